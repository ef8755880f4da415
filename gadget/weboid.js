// SPDX-License-Identifier: MIT
/**
 * Where the gadget begins: which content of a page has links that lead away. All else is loaded when there is some.
 *
 * One law: it never keeps the page waiting. What grows with the page is done while the browser is idle.
 */
'use strict';

const usePart = require( './parts.js' );

/** After so long work goes on even if the browser is never idle. */
const PATIENCE_MS = 1000;

const action = mw.config.get( 'wgAction' );
const ownHosts = [ location.host, new URL( mw.config.get( 'wgServer' ), location.href ).host ];

let isScheduled = false;

/** What was begun last: what comes next waits for it. */
let handled = Promise.resolve();

/**
 * The parts of the document that are the page's content: in the editor, only a preview of it.
 *
 * @return {HTMLElement[]}
 */
function contentRoots() {
	const place = action === 'view' ? '#mw-content-text' : '#wikiPreview';
	// The outermost ones: an article may have elements of this class within its own.
	return /** @type {HTMLElement[]} */ ( Array.from( document.querySelectorAll( `${ place } .mw-parser-output` ) ) )
		.filter( ( root ) => !( root.parentElement && root.parentElement.closest( '.mw-parser-output' ) ) );
}

/**
 * @param {HTMLElement} root
 * @return {boolean} whether a link in it leads away from the wiki
 */
function leadsAway( root ) {
	const links = /** @type {HTMLAnchorElement[]} */ ( Array.from( root.querySelectorAll( 'a[href*="//"]' ) ) );
	return links.some( ( { host } ) => host && !ownHosts.includes( host ) );
}

/**
 * Looks at all content that there is (D-221), once the browser is idle. Content that was seen before
 * costs next to nothing.
 */
function schedule() {
	if ( isScheduled ) {
		return;
	}
	isScheduled = true;
	mw.requestIdleCallback( () => {
		isScheduled = false;
		const roots = contentRoots().filter( leadsAway );
		if ( roots.length ) {
			handled = handled.then( () => usePart( 'page' ) ).then( ( page ) => page.handle( roots ) )
				.then( () => undefined, mw.log.error );
		}
	}, { timeout: PATIENCE_MS } );
}

/**
 * Helps in the editor: selects what the card has left to be selected there, and offers repairs of what has links.
 */
function edit() {
	const field = /** @type {HTMLTextAreaElement|null} */ ( document.querySelector( 'textarea#wpTextbox1' ) );
	if ( mw.storage.session.get( 'weboid-selection' ) ) {
		usePart( 'card' ).then( ( card ) => card.selectRemembered(), mw.log.error );
	}
	if ( field && field.value.includes( '//' ) ) {
		usePart( 'marks' ).then( ( { repairing } ) => repairing.offerRepair(), mw.log.error );
	}
}

/**
 * @return {boolean} whether this is a list of pages that may be the reader's
 */
function isList() {
	const special = mw.config.get( 'wgCanonicalSpecialPageName' );
	return mw.config.get( 'wgUserName' ) !== null && (
		special === 'Watchlist' || special === 'Contributions' ||
		mw.config.get( 'wgNamespaceNumber' ) === 14 && action === 'view'
	);
}

/**
 * Begins, in a way that depends on what is done with the page.
 */
function start() {
	switch ( action ) {
		case 'view':
		case 'edit':
		case 'submit':
			// Also fired for previews, and after an edit with VisualEditor.
			mw.hook( 'wikipage.content' ).add( schedule );
			mw.hook( 'wikipage.editform' ).add( edit );
			if ( /[?&]weboidrepair=1(&|$)/.test( location.search ) ) {
				usePart( 'marks' ).then( ( { repairing } ) => repairing.repair( null ), mw.log.error );
			}
			break;
		case 'info':
			usePart( 'page' ).then( ( page ) => page.showInfo(), mw.log.error );
			break;
	}
}

// The gadget and the user script may both be there: the first one does it all.
if ( !mw.config.exists( 'weboidLoaded' ) ) {
	mw.config.set( 'weboidLoaded', true );
	if ( mw.config.get( 'wgArticleId' ) > 0 && mw.config.get( 'wgPageContentModel' ) === 'wikitext' ) {
		start();
	}
	if ( isList() ) {
		usePart( 'list' ).then( ( list ) => list.offer(), mw.log.error );
	}
}

module.exports = { ownHosts, usePart };
