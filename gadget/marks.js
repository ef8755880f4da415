// SPDX-License-Identifier: MIT
/**
 * What stands behind a link in the text: a mark that opens its card (G-1), the type and size of a
 * file (G-5); and a line above the references that sums up.
 *
 * Marks are found by a number that they carry, so that copies of them work as well: Reference
 * Previews show copies of a reference. When a card closes again is card.js' business.
 */
'use strict';

const { addresses, preferences } = require( 'ext.gadget.weboid-page' );
const { bounded, create, link: linkTo } = require( './elements.js' );
const words = require( './words.js' );

/** How long the pointer rests on a link before its card opens. */
const HOVER_MS = 300;

/** How far behind a link the page itself may say which type of file it leads to. */
const NEARBY_CHARACTERS = 40;

/**
 * @typedef {Object} Known
 * @property {Weboid.Link} link
 * @property {function(HTMLButtonElement, boolean): void} onOpen
 */

/** @type {Known[]} by the number that a mark carries */
const known = [];

/** @type {WeakMap<Element,HTMLElement[]>} what stands behind an element */
const placed = new WeakMap();

/** @type {number|undefined} */
let hoverTimer;
let isListening = false;

/**
 * Which mark a link gets.
 *
 * @param {Weboid.Link} link
 * @param {Weboid.Preferences} wanted
 * @return {string|null} null for none
 */
function kindOf( link, wanted ) {
	const isFinding = link.verdict === 'dead' ? wanted.dead : link.verdict === 'doubtful' && wanted.doubtful;
	if ( isFinding && ( wanted.repaired || !link.repaired ) ) {
		return link.verdict;
	}
	return wanted.cards === 'all' || wanted.doubtful && words.isHinted( link ) ? 'other' : null;
}

/**
 * Puts behind a link what the reader wants to see of it. Does nothing where that is there already.
 *
 * @param {HTMLAnchorElement} element
 * @param {Weboid.Link} link
 * @param {Object} options
 * @param {function(HTMLButtonElement, boolean): void} options.onOpen called with the mark when its
 *  card is to be opened, and whether only the pointer rests there
 */
function mark( element, link, { onOpen } ) {
	const next = element.nextSibling;
	if (
		( placed.get( element ) || [] ).some( ( each ) => each.isConnected ) ||
		// Of content that another gadget has made anew from its HTML; wikitext makes no button.
		next instanceof Element &&
			( next.matches( '.weboid-place' ) ? next.querySelector( 'button' ) : next.matches( '.weboid-file' ) )
	) {
		return;
	}
	const wanted = preferences.get();
	const kind = kindOf( link, wanted );
	const added = [];
	if ( kind !== null ) {
		// Nothing is put into the link or around it (D-207).
		// Browsers may break lines before a button: the place keeps it at the end of the link.
		added.push( create( 'span', 'weboid-place', createMark( kind, link, onOpen ) ) );
	}
	if ( wanted.files && link.mime && !isFileNamed( element, words.fileType( link ) ) ) {
		added.push( createFile( link ) );
	}
	if ( added.length ) {
		element.after( ...added );
		placed.set( element, added );
		listen();
	}
}

/**
 * @param {string} kind
 * @param {Weboid.Link} link
 * @param {function(HTMLButtonElement, boolean): void} onOpen
 * @return {HTMLButtonElement}
 */
function createMark( kind, link, onOpen ) {
	const button = document.createElement( 'button' );
	button.className = `weboid-mark weboid-mark-${ kind }`;
	button.type = 'button';
	button.value = String( known.push( { link, onOpen } ) - 1 );
	button.lang = mw.config.get( 'wgUserLanguage' );
	button.setAttribute( 'aria-haspopup', 'dialog' );
	button.setAttribute( 'aria-expanded', 'false' );
	const name = mw.msg( 'weboid-gadget-mark', words.verdict( link ), bounded( link.summary || '' ) );
	button.setAttribute(
		'aria-label', link.repaired ? `${ name } ${ mw.msg( 'weboid-gadget-repaired' ) }` : name
	);
	if ( link.repaired && kind !== 'other' ) {
		button.classList.add( 'weboid-mark-repaired' );
	}
	if ( kind === 'dead' ) {
		button.dataset.weboidPrint = mw.msg( 'weboid-gadget-print-dead' );
	} else if ( kind === 'doubtful' ) {
		button.dataset.weboidPrint = mw.msg( 'weboid-gadget-print-doubtful' );
	}
	return button;
}

/**
 * @param {Weboid.Link} link
 * @return {HTMLElement} type and size of a file, in the reader's language and not the page's
 */
function createFile( link ) {
	const text = create( 'bdi', '', `(${ words.file( link ) })` );
	text.dir = document.documentElement.dir;
	text.lang = mw.config.get( 'wgUserLanguage' );
	// The gap to the link is on the side where the page's language has it.
	const element = create( 'span', 'weboid-file', text );
	// For tables that are sorted it is no part of its cell: "1,200 (PDF)" is no number.
	element.dataset.sortValue = '';
	return element;
}

/**
 * @param {Element} element
 * @param {string} type
 * @return {boolean} whether the page says this type itself, in the link or right behind it
 */
function isFileNamed( element, type ) {
	let behind = '';
	let node = element.nextSibling;
	while ( node && behind.length < NEARBY_CHARACTERS ) {
		behind += ` ${ node.textContent }`;
		node = node.nextSibling;
	}
	const text = `${ element.textContent } ${ behind.slice( 0, NEARBY_CHARACTERS ) }`;
	const word = mw.util.escapeRegExp( type );
	return new RegExp( `(^|[^a-z0-9])${ word }($|[^a-z0-9])`, 'i' ).test( text );
}

/**
 * Says above the references how many links are dead or doubtful, if the reader wants that and any
 * are.
 *
 * @param {Element} root
 * @param {Weboid.Link[]} links each once
 */
function summary( root, links ) {
	const dead = links.filter( ( link ) => link.verdict === 'dead' ).length;
	const doubtful = links.filter( ( link ) => link.verdict === 'doubtful' ).length;
	const repaired = links.filter( ( link ) => link.repaired ).length;
	if ( !preferences.get().summary || dead + doubtful === 0 || root.querySelector( '.weboid-summary' ) ) {
		return;
	}
	const line = create(
		'p', 'weboid-summary',
		mw.msg( 'weboid-gadget-summary', words.number( dead ), words.number( doubtful ) ),
		' ',
		...( repaired ? [ mw.msg( 'weboid-gadget-summary-repaired', words.number( repaired ) ), ' ' ] : [] ),
		linkTo( addresses.listOfPage(), '', mw.msg( 'weboid-gadget-summary-list' ) )
	);
	line.lang = mw.config.get( 'wgUserLanguage' );
	line.dir = document.documentElement.dir;
	const references = root.querySelectorAll( '.mw-references-wrap, ol.references' );
	if ( references.length ) {
		references[ 0 ].before( line );
	} else {
		root.append( line );
	}
}

/**
 * Listens to the whole document instead of each mark, once there is one.
 */
function listen() {
	if ( isListening ) {
		return;
	}
	isListening = true;
	document.addEventListener( 'click', ( event ) => {
		const button = event.target instanceof Element && event.target.closest( '.weboid-mark' );
		if ( button instanceof HTMLButtonElement ) {
			open( button, false );
		}
	} );
	document.addEventListener( 'pointerover', ( event ) => {
		clearTimeout( hoverTimer );
		const isResting = event.pointerType === 'mouse' && !event.buttons;
		const button = isResting ? markAt( event.target ) : null;
		if ( button && button.getAttribute( 'aria-expanded' ) !== 'true' ) {
			hoverTimer = setTimeout( () => open( button, true ), HOVER_MS );
		}
	} );
	// A reader who clicks, scrolls or types wants something else than to look closer.
	[ 'pointerdown', 'wheel', 'keydown' ].forEach( ( name ) => {
		document.addEventListener( name, () => clearTimeout( hoverTimer ), { passive: true } );
	} );
}

/**
 * @param {HTMLButtonElement} button
 * @param {boolean} byHover
 */
function open( button, byHover ) {
	const meant = known[ Number( button.value ) ];
	if ( meant && button.isConnected ) {
		meant.onOpen( button, byHover );
	}
}

/**
 * The mark to which something in the page belongs: the mark itself, or the link before it.
 *
 * @param {EventTarget|null} target
 * @return {HTMLButtonElement|null}
 */
function markAt( target ) {
	const around = target instanceof Element && target.closest( 'a, .weboid-place' );
	const place = around && around.matches( 'a' ) ? around.nextElementSibling : around;
	return place && place.matches( '.weboid-place' ) ? place.querySelector( 'button' ) : null;
}

module.exports = { mark, markAt, summary };
