// SPDX-License-Identifier: MIT
/**
 * Elements made of text that nobody vouches for: what the service tells comes from pages and
 * servers of strangers.
 *
 * One law: text becomes text (D-210). Nothing here is ever parsed as HTML, and a link leads to http or
 * https or is none.
 */
'use strict';

/** Longer texts are cut: URLs may have thousands of characters. */
const MOST_CHARACTERS = 300;
/** What could show a URL in another order, or end the isolation that keeps it apart (UAX 9). */
const BIDI_CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * @param {string} tag
 * @param {string} className
 * @param {...(Node|string|null)} children null stands for nothing
 * @return {HTMLElement}
 */
function create( tag, className, ...children ) {
	const element = document.createElement( tag );
	if ( className ) {
		element.className = className;
	}
	const present = children.filter( ( child ) => child !== null );
	element.append( .../** @type {Array<Node|string>} */ ( present ) );
	return element;
}

/**
 * @param {any} text
 * @param {number} [most] characters
 * @return {string} one line of at most so many characters, and an ellipsis if there were more
 */
function bounded( text, most = MOST_CHARACTERS ) {
	const line = String( text ).slice( 0, 2 * most ).replace( /\s+/g, ' ' );
	// By code points, so that none is cut in two.
	const characters = Array.from( line );
	return characters.length > most ? `${ characters.slice( 0, most ).join( '' ) }…` : line;
}

/**
 * Text that may run in another direction than what surrounds it.
 *
 * @param {string} text
 * @return {HTMLElement}
 */
function isolated( text ) {
	return create( 'bdi', '', bounded( text, 2 * MOST_CHARACTERS ) );
}

/**
 * A URL as text: from left to right in every language.
 *
 * @param {string} url
 * @return {HTMLElement}
 */
function urlText( url ) {
	const element = create( 'bdi', 'weboid-url', bounded( url.replace( BIDI_CONTROLS, encodeURIComponent ) ) );
	element.dir = 'ltr';
	return element;
}

/**
 * @param {any} text
 * @return {string|null} the address that it is, if people may be sent there: http or https, and
 *  no user name, which is there to pass for a host
 */
function webAddress( text ) {
	try {
		const url = new URL( text );
		return /^https?:$/.test( url.protocol ) && !url.username && !url.password ? url.href : null;
	} catch ( error ) {
		return null;
	}
}

/**
 * A link that opens in a new tab, so that nobody loses the page.
 *
 * @param {string|null} address null for text without a link
 * @param {string} className
 * @param {...(Node|string|null)} children
 * @return {HTMLElement}
 */
function link( address, className, ...children ) {
	if ( address === null ) {
		return create( 'span', '', ...children );
	}
	const element = /** @type {HTMLAnchorElement} */ ( create( 'a', className, ...children ) );
	element.href = address;
	element.target = '_blank';
	element.rel = 'noopener nofollow';
	return element;
}

/**
 * @param {string} url
 * @return {HTMLElement} the URL as a link to itself, or as text if people cannot be sent there
 */
function urlLink( url ) {
	return link( webAddress( url ), '', urlText( url ) );
}

/**
 * @param {string} className
 * @param {string|Node} label
 * @param {function(MouseEvent): void} onClick
 * @return {HTMLButtonElement}
 */
function button( className, label, onClick ) {
	const element = /** @type {HTMLButtonElement} */ ( create( 'button', className, label ) );
	element.type = 'button';
	element.addEventListener( 'click', onClick );
	return element;
}

/**
 * A sentence of the interface with elements in it.
 *
 * @param {string} text a message in which `$1`, `$2` still stand for themselves
 * @param {...Node} parts what they stand for
 * @return {Array<Node|string>}
 */
function withParts( text, ...parts ) {
	return text.split( /\$(\d)/ )
		.map( ( piece, place ) => place % 2 ? parts[ Number( piece ) - 1 ] || '' : piece );
}

module.exports = {
	bounded, button, create, isolated, link, urlLink, urlText, webAddress, withParts
};
