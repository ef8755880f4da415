// SPDX-License-Identifier: MIT
/**
 * Where the gadget begins: when it looks at which part of a page, what it asks for, and what becomes of the answer.
 *
 * One law: it never keeps the page waiting. What grows with the page is done in slices while the browser is idle.
 */
'use strict';

const core = require( './core.js' );
const editing = require( './editing.js' );
const marks = require( './marks.js' );
const card = require( './card.js' );
const portlets = require( './portlets.js' );
const preferences = require( './preferences.js' );
const service = require( './service.js' );

/** For how long one slice of work may keep the page waiting. */
const SLICE_MS = 8;

/** After so long work goes on even if the browser is never idle. */
const PATIENCE_MS = 1000;

/** In which elements links are not the content's. */
const NOT_CONTENT = '.mw-editsection, .weboid-card, .weboid-mark, .weboid-summary';

const action = mw.config.get( 'wgAction' );
const ownHosts = [ location.host, new URL( mw.config.get( 'wgServer' ), location.href ).host ];

/** @type {WeakSet<HTMLAnchorElement>} links that have been looked at */
const seen = new WeakSet();

/** @type {Map<number,Promise<Weboid.KnownLinks>>} by revision, so that one view asks once (D-222) */
const answers = new Map();

let isScheduled = false;

/** What was begun last: what comes next waits for it. */
let handled = Promise.resolve();

/**
 * Does work in slices while the browser is idle.
 *
 * @param {function(number): boolean} work takes the moment until which it may last (`performance.now()`), and returns
 *  whether it has ended
 * @return {Promise<void>}
 */
function inSlices( work ) {
	return new Promise( ( resolve, reject ) => {
		function slice() {
			try {
				if ( work( performance.now() + SLICE_MS ) ) {
					resolve();
				} else {
					mw.requestIdleCallback( slice, { timeout: PATIENCE_MS } );
				}
			} catch ( error ) {
				reject( error );
			}
		}
		mw.requestIdleCallback( slice, { timeout: PATIENCE_MS } );
	} );
}

/**
 * Does something with each of many things, in slices.
 *
 * @template T
 * @param {T[]} things
 * @param {function(T): void} work
 * @return {Promise<void>}
 */
function eachInSlices( things, work ) {
	let next = 0;
	return inSlices( ( deadline ) => {
		while ( next < things.length && performance.now() < deadline ) {
			work( things[ next++ ] );
		}
		return next === things.length;
	} );
}

/**
 * @return {boolean} whether the reader wants to know of the links of this page
 */
function isWanted() {
	const wanted = preferences.get();
	return mw.config.get( 'wgArticleId' ) > 0 &&
		mw.config.get( 'wgPageContentModel' ) === 'wikitext' &&
		( wanted.namespaces === 'all' || mw.config.get( 'wgContentNamespaces' ).includes( mw.config.get( 'wgNamespaceNumber' ) ) ) &&
		( wanted.dead || wanted.doubtful || wanted.files || wanted.cards === 'all' );
}

/**
 * What the service knows of the page as it is now on the wiki, whichever revision or preview is shown.
 *
 * @return {Promise<Weboid.KnownLinks>}
 */
function askOnce() {
	const revision = mw.config.get( 'wgCurRevisionId' );
	let answer = answers.get( revision );
	if ( !answer ) {
		answer = service.ask( {
			page: mw.config.get( 'wgArticleId' ),
			revision,
			language: mw.config.get( 'wgUserLanguage' ),
			extent: preferences.get().cards === 'all' ? 'all' : 'notes'
		} );
		answers.set( revision, answer );
	}
	return answer;
}

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
 * Marks the links of a part of the page.
 *
 * @param {HTMLElement} root
 * @return {Promise<void>}
 */
function handle( root ) {
	const index = core.createIndex( ownHosts );
	const elements = /** @type {HTMLAnchorElement[]} */ ( Array.from( root.querySelectorAll( 'a[href]' ) ) );
	return eachInSlices( elements, ( element ) => {
		if ( !seen.has( element ) && !element.closest( NOT_CONTENT ) ) {
			seen.add( element );
			index.add( element );
		}
	} ).then( () => {
		if ( !index.size ) {
			return undefined;
		}
		portlets.addToolboxLink();
		const prepared = inSlices( index.step );
		return Promise.all( [ askOnce(), prepared ] ).then( ( [ answer ] ) => show( root, answer, index ) );
	} );
}

/**
 * @param {HTMLElement} root
 * @param {Weboid.KnownLinks} answer
 * @param {Weboid.Index} index
 * @return {Promise<void>}
 */
function show( root, answer, index ) {
	const found = index.find( answer.links );
	const context = { answerDay: answer.day };
	return eachInSlices( Array.from( found ), ( [ element, link ] ) => {
		// The content may have been replaced in the meantime.
		if ( element.isConnected ) {
			marks.mark( element, link, {
				onOpen: ( mark, byHover ) => card.open( mark, link, context, byHover )
			} );
		}
	} ).then( () => {
		if ( root.isConnected ) {
			marks.summary( root, Array.from( new Set( found.values() ) ) );
			// For other gadgets: the links of this part of the page have their marks.
			mw.hook( 'weboid.marked' ).fire( $( root ) );
		}
	} );
}

/**
 * Looks at all content that there is (D-221), once the browser is idle. Content that was seen before
 * costs next to nothing.
 */
function schedule() {
	if ( isScheduled || !isWanted() ) {
		return;
	}
	isScheduled = true;
	card.close();
	mw.requestIdleCallback( () => {
		isScheduled = false;
		handled = handled.then( () => Promise.all( contentRoots().map( handle ) ) )
			.then( () => undefined, mw.log.error );
	}, { timeout: PATIENCE_MS } );
}

/**
 * Tells on action=info how many of the page's links are dead.
 */
function showInfo() {
	askOnce().then( ( { page } ) => page && $( () => portlets.addInfoRow( page ) ) );
}

/**
 * Makes the messages of the reader's language known, or of those that stand in for it.
 */
function loadMessages() {
	const messages = require( './messages.json' );
	mw.language.getFallbackLanguageChain().slice().reverse()
		.forEach( ( code ) => mw.messages.set( messages[ code ] || {} ) );
}

/**
 * Begins, in a way that depends on what is done with the page.
 */
function start() {
	loadMessages();
	switch ( action ) {
		case 'view':
		case 'edit':
		case 'submit':
			if ( !preferences.get().dead && !preferences.get().doubtful ) {
				// There may be no card from which the dialog could be opened.
				$( () => portlets.addSettingsLink( preferences.openDialog ) );
			}
			// Also fired for previews, and after an edit with VisualEditor.
			mw.hook( 'wikipage.content' ).add( schedule );
			mw.hook( 'wikipage.editform' ).add( editing.selectRemembered );
			break;
		case 'info':
			if ( isWanted() ) {
				showInfo();
			}
			break;
	}
}

// The gadget and the user script may both be there: the first one does it all.
if ( !mw.config.exists( 'weboidLoaded' ) ) {
	mw.config.set( 'weboidLoaded', true );
	start();
}
