// The events of EventStreams, one a line, as the extension EventBus makes them of the same hooks.
function weboidEvent( string $stream, array $more ): void {
    $meta = [ "stream" => $stream, "id" => bin2hex( random_bytes( 16 ) ), "domain" => "test.sample.org",
        "dt" => gmdate( "Y-m-d\\TH:i:s" ) . substr( sprintf( "%.3f", fmod( microtime( true ), 1 ) ), 1 ) . "Z" ];
    file_put_contents( __DIR__ . "/events.jsonl", json_encode( [ "meta" => $meta ] + $more ) . "\n", FILE_APPEND | LOCK_EX );
}
function weboidChange( string $kind, $page, int $id, $revision ): void {
    $title = \MediaWiki\Title\Title::newFromPageIdentity( $page );
    $content = $revision ? $revision->getContent( "main", \MediaWiki\Revision\RevisionRecord::RAW ) : null;
    $slots = [ "main" => [ "content_model" => $content ? $content->getModel() : "wikitext" ] ];
    weboidEvent( "mediawiki.page_change.v1", [ "wiki_id" => "testwiki", "page_change_kind" => $kind,
        "page" => [ "page_id" => $id, "page_title" => $title->getPrefixedDBkey(), "namespace_id" => $title->getNamespace(),
            "is_redirect" => $content && $content->isRedirect() ],
        "revision" => [ "content_slots" => $slots ] ] );
}
$wgHooks["PageSaveComplete"][] = static function ( $page, $user, $summary, $flags, $revision, $result ) {
    if ( !$result->isNullEdit() ) {
        weboidChange( $flags & EDIT_NEW ? "create" : "edit", $page, $page->getId(), $revision );
    }
};
$wgHooks["PageMoveComplete"][] = static function ( $old, $new, $user, $id, $redirect, $reason, $revision ) {
    weboidChange( "move", \MediaWiki\Title\Title::newFromLinkTarget( $new ), $id, $revision );
};
$wgHooks["PageDeleteComplete"][] = static function ( $page, $who, $reason, $id, $revision ) {
    weboidChange( "delete", $page, $id, $revision );
};
$wgHooks["PageUndeleteComplete"][] = static function ( $page, $who, $reason, $revision ) {
    weboidChange( "undelete", $page, $page->getId(), $revision );
};
$wgHooks["LinksUpdateComplete"][] = static function ( $update ) {
    $links = static fn ( array $urls ) => array_map( static fn ( $url ) => [ "link" => urlencode( $url ), "external" => true ],
        array_values( $urls ) );
    $changes = array_filter( [ "added_links" => $links( $update->getAddedExternalLinks() ),
        "removed_links" => $links( $update->getRemovedExternalLinks() ) ] );
    $title = $update->getTitle();
    if ( $changes ) {
        weboidEvent( "mediawiki.page-links-change", [ "database" => "testwiki", "page_id" => $update->getPageId(),
            "page_title" => $title->getPrefixedDBkey(), "page_namespace" => $title->getNamespace() ] + $changes );
    }
};
$wgHooks["RecentChange_save"][] = static function ( $change ) {
    if ( $change->getAttribute( "rc_type" ) == RC_CATEGORIZE ) {
        weboidEvent( "mediawiki.recentchange", [ "wiki" => "testwiki", "type" => "categorize",
            "title" => \MediaWiki\Title\Title::castFromPageReference( $change->getPage() )->getPrefixedText(),
            "comment" => $change->getAttribute( "rc_comment" ) ] );
    }
};
$wgRCWatchCategoryMembership = true;
