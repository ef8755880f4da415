$services = MediaWiki\MediaWikiServices::getInstance();
$users = $services->getUserFactory();
$blocks = $services->getBlockUserFactory();
$admin = MediaWiki\User\User::newSystemUser( "Maintenance script", [ "steal" => true ] );
$make = [
    "Free" => null,
    "Blocked" => [ [], [] ],
    "Partly" => [ [ "isPartial" => true ], [ new MediaWiki\Block\Restriction\PageRestriction( 0, 1 ) ] ],
    "Hidden" => [ [ "isHideUser" => true ], [] ],
    "Ärztin d'Été" => null,
];
foreach ( $make as $name => $block ) {
    $user = $users->newFromName( $name );
    $user->addToDatabase();
    if ( $block ) {
        $made = $blocks->newBlockUser( $user, $admin, "infinity", "Spam", $block[0], $block[1] )->placeBlockUnsafe();
        if ( !$made->isOK() ) { echo $made; }
    }
    echo $name, "=", $user->getId(), "\n";
}
