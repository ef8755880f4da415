<?php
// Does to pages what the lines of its input say, each [kind, title, text or new title].
use MediaWiki\CommentStore\CommentStoreComment;
use MediaWiki\Content\WikitextContent;
use MediaWiki\Deferred\DeferredUpdates;
use MediaWiki\Maintenance\Maintenance;
use MediaWiki\Revision\SlotRecord;
use MediaWiki\Title\Title;

class WeboidActs extends Maintenance {
    public function execute() {
        $services = $this->getServiceContainer();
        $user = $services->getUserFactory()->newFromName( "Admin" );
        while ( ( $line = fgets( STDIN ) ) !== false ) {
            [ $kind, $name, $given ] = json_decode( $line );
            $title = Title::newFromText( $name );
            $page = $services->getWikiPageFactory()->newFromTitle( $title );
            $comment = CommentStoreComment::newUnsavedComment( $kind );
            if ( $kind === "edit" ) {
                $updater = $page->newPageUpdater( $user )->setContent( SlotRecord::MAIN, new WikitextContent( $given ) );
                $updater->saveRevision( $comment );
                $done = $updater->getStatus();
            } elseif ( $kind === "move" || $kind === "move-alone" ) {
                $move = $services->getMovePageFactory()->newMovePage( $title, Title::newFromText( $given ) );
                $done = $move->move( $user, $kind, $kind === "move" );
            } elseif ( $kind === "delete" ) {
                $done = $services->getDeletePageFactory()->newDeletePage( $page, $user )->deleteUnsafe( $kind );
            } else {
                $done = $services->getUndeletePageFactory()->newUndeletePage( $page, $user )->undeleteUnsafe( $kind );
            }
            DeferredUpdates::doUpdates();
            $this->output( $kind . ( $done->isOK() ? " done\n" : " refused: $done\n" ) );
        }
    }
}
return WeboidActs::class;
