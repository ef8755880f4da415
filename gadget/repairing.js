// SPDX-License-Identifier: MIT
/**
 * Who is offered to repair links, and where: what it takes comes with the first repair.
 */
'use strict';

const { addButton, messages, useLater } = require( 'ext.gadget.weboid-page' );

/**
 * @return {boolean} whether the page that is shown is one that its reader may repair
 */
function isRepairable() {
	const namespace = mw.config.get( 'wgNamespaceNumber' );
	const isNewest = mw.config.get( 'wgAction' ) !== 'view' || mw.config.get( 'wgRevisionId' ) === mw.config.get( 'wgCurRevisionId' );
	// Neither talk nor the interface.
	return mw.config.get( 'wgIsProbablyEditable' ) && isNewest && namespace % 2 === 0 && namespace !== 8;
}

/**
 * Opens the dialog for repairs.
 *
 * @param {Weboid.Link|null} link the only one that is repaired; null for all of the page
 */
function repair( link ) {
	useLater( 'repair' ).then( ( part ) => part.open( link ) ).catch( mw.log.error );
}

/**
 * Offers to repair the links of this page, where it may be edited.
 */
function offerRepair() {
	if ( isRepairable() ) {
		messages.load( 'first' ).then(
			() => addButton( 't-weboid-repair', mw.msg( 'weboid-gadget-repair-all' ), () => repair( null ) ), mw.log.error
		);
	}
}

module.exports = { isRepairable, offerRepair, repair };
