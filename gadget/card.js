// SPDX-License-Identifier: MIT
/**
 * The card of a link: where and how long it is shown, and who has the focus. What stands on it is
 * card-contents.js' business, when it opens that of marks.js.
 *
 * There is one card at a time. Opened by a pointer that rests, it stays while the pointer is there
 * (WCAG 1.4.13); opened by click, touch or keyboard, it has the focus and stays until it is closed.
 */
'use strict';

const { elements: { create }, markAt, repairing } = require( 'ext.gadget.weboid-marks' );
const contents = require( './card-contents.js' );
const editing = require( './editing.js' );
const { closeDialog, showDialog } = require( './dialog.js' );
const settings = require( './settings.js' );

/** For how long the pointer may be outside, on its way from the mark to the card. */
const LEAVE_MS = 300;
const GAP_PX = 6;
const MARGIN_PX = 8;
/** A card is not squeezed below this height; the page can be scrolled to see the rest. */
const LEAST_HEIGHT_PX = 240;
/** How far the card begins before its mark. */
const INDENT_PX = 24;
/** As in weboid.css: here the card is a drawer at the bottom of the window. */
const NARROW = '(max-width: 30em)';
const FOCUSABLE = 'a[href], button';

/**
 * @typedef {Object} Open
 * @property {HTMLElement} card
 * @property {HTMLButtonElement} mark
 * @property {boolean} isPinned whether it stays when the pointer leaves
 */

/** @type {Open|null} */
let current = null;
/** @type {number|undefined} */
let leaveTimer;
let isListening = false;

/**
 * Opens the card of a mark; closes it if it is open and has the focus already.
 *
 * @param {HTMLButtonElement} mark
 * @param {Weboid.Link} link
 * @param {Object} context
 * @param {string|null} context.answerDay the day of the answer
 * @param {boolean} [byHover] whether the pointer merely rests there: the focus stays where it is
 */
function open( mark, link, context, byHover = false ) {
	if ( current && current.mark === mark && current.card.isConnected ) {
		if ( !byHover ) {
			if ( current.isPinned ) {
				close();
			} else {
				pin();
			}
		}
		return;
	}
	if ( byHover && current && current.card.contains( document.activeElement ) ) {
		return;
	}
	close();
	const card = create( 'div', `weboid-card weboid-card-${ link.verdict }` );
	card.id = 'weboid-card';
	card.tabIndex = -1;
	card.dir = document.documentElement.dir;
	card.lang = mw.config.get( 'wgUserLanguage' );
	card.setAttribute( 'role', 'dialog' );
	card.setAttribute( 'aria-labelledby', contents.TITLE_ID );
	card.append( ...contents.create( mark, link, context, {
		onClose: close, onSettings, onChange: place, onRepair: () => onRepair( link )
	} ) );
	mark.setAttribute( 'aria-expanded', 'true' );
	mark.setAttribute( 'aria-controls', card.id );
	current = { card, mark, isPinned: false };
	document.body.append( card );
	place();
	listen();
	if ( !byHover ) {
		pin();
		uncover();
	}
}

/**
 * Closes the card. The focus goes back to its mark if it was in the card.
 */
function close() {
	if ( !current ) {
		return;
	}
	const { card, mark } = current;
	const hadFocus = card.contains( document.activeElement );
	current = null;
	clearTimeout( leaveTimer );
	card.remove();
	mark.setAttribute( 'aria-expanded', 'false' );
	mark.removeAttribute( 'aria-controls' );
	if ( hadFocus && mark.isConnected ) {
		mark.focus();
	}
}

/**
 * Lets the card stay, and have the focus.
 */
function pin() {
	if ( current ) {
		current.isPinned = true;
		current.card.focus( { preventScroll: true } );
	}
}

/**
 * Opens the preferences instead of the card. Closing them leads back at the mark.
 */
function onSettings() {
	close();
	settings.open();
}

/**
 * Opens the dialog for a repair instead of the card. Closing it leads back at the mark.
 *
 * @param {Weboid.Link} link
 */
function onRepair( link ) {
	close();
	repairing.repair( link );
}

/**
 * Places the card below its mark or above it, where there is room, within the window.
 */
function place() {
	if ( !current ) {
		return;
	}
	const { card, mark } = current;
	const { scrollTop, style } = card;
	style.top = style.left = style.maxHeight = '';
	if ( window.matchMedia( NARROW ).matches ) {
		return;
	}
	// The origin of its coordinates is the skin's business.
	style.top = style.left = '0';
	const origin = card.getBoundingClientRect();
	const anchor = mark.getBoundingClientRect();
	const { clientWidth, clientHeight } = document.documentElement;
	const above = anchor.top - GAP_PX - MARGIN_PX;
	const below = clientHeight - anchor.bottom - GAP_PX - MARGIN_PX;
	const isBelow = origin.height <= below || below >= above;
	style.maxHeight = `${ Math.max( LEAST_HEIGHT_PX, isBelow ? below : above ) }px`;
	const top = isBelow ? anchor.bottom + GAP_PX : anchor.top - GAP_PX - card.offsetHeight;
	const left = card.dir === 'rtl' ? anchor.right + INDENT_PX - card.offsetWidth : anchor.left - INDENT_PX;
	const rightmost = clientWidth - MARGIN_PX - card.offsetWidth;
	style.top = `${ top - origin.top }px`;
	style.left = `${ Math.max( MARGIN_PX, Math.min( left, rightmost ) ) - origin.left }px`;
	card.scrollTop = scrollTop;
}

/**
 * Scrolls the page so that a mark that was pressed is not hidden by the drawer that it opened.
 */
function uncover() {
	if ( current && window.matchMedia( NARROW ).matches ) {
		const { top } = current.card.getBoundingClientRect();
		const { bottom } = current.mark.getBoundingClientRect();
		// At once: Minerva has pages scroll smoothly.
		window.scrollBy( { top: Math.max( 0, bottom + MARGIN_PX - top ), behavior: 'instant' } );
	}
}

/**
 * Listens for what closes a card, once there is one.
 */
function listen() {
	if ( isListening ) {
		return;
	}
	isListening = true;
	document.addEventListener( 'keydown', onKey );
	document.addEventListener( 'pointerover', onPointerOver );
	document.addEventListener( 'pointerdown', ( event ) => {
		if ( current && !isAt( event.target ) ) {
			close();
		}
	} );
	document.addEventListener( 'focusin', () => {
		if ( current && current.card.contains( document.activeElement ) ) {
			current.isPinned = true;
		}
	} );
	window.addEventListener( 'resize', place );
}

/**
 * @param {EventTarget|null} target
 * @return {boolean} whether it is in the card or the mark
 */
function isAt( target ) {
	return current !== null && target instanceof Node &&
		( current.card.contains( target ) || current.mark.contains( target ) );
}

/**
 * Closes a card that nobody looks at any more.
 *
 * @param {PointerEvent} event
 */
function onPointerOver( event ) {
	if ( !current || current.isPinned ) {
		return;
	}
	clearTimeout( leaveTimer );
	if ( !isAt( event.target ) && markAt( event.target ) !== current.mark ) {
		leaveTimer = setTimeout( close, LEAVE_MS );
	}
}

/**
 * Escape closes, and so does Tab at either end of the card: both lead to its mark.
 *
 * @param {KeyboardEvent} event
 */
function onKey( event ) {
	if ( !current ) {
		return;
	}
	if ( event.key === 'Escape' ) {
		event.stopPropagation();
		close();
	} else if ( event.key === 'Tab' && current.card.contains( document.activeElement ) ) {
		const stops = Array.from( current.card.querySelectorAll( FOCUSABLE ) );
		const at = document.activeElement;
		if ( event.shiftKey ? at === current.card || at === stops[ 0 ] : at === stops[ stops.length - 1 ] ) {
			event.preventDefault();
			close();
		}
	}
}

// Another revision of the content, or a preview: the mark of this card is gone.
mw.hook( 'wikipage.content' ).add( close );

module.exports = {
	closeDialog, open, openSettings: settings.open, selectRemembered: editing.selectRemembered, showDialog
};
