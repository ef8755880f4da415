$wgVectorNightMode["logged_out"] = $wgMinervaNightMode["base"] = $wgMinervaNightMode["loggedin"] = true;
$wgDefaultUserOptions["uselivepreview"] = 1;
$wgHooks["ArticleParserOptions"][] = static function ( $article, $options ) {
    if ( $article->getContext()->getRequest()->getBool( "useparsoid" ) ) { $options->setUseParsoid(); }
};
$wgHooks["BeforePageDisplay"][] = static function ( $out ) {
    $policy = $out->getRequest()->getRawVal( "contentpolicy" );
    if ( $policy !== null ) { $out->getRequest()->response()->header( "Content-Security-Policy: $policy" ); }
};
