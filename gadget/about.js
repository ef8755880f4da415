// SPDX-License-Identifier: MIT
/**
 * The second part of a card: what the linked document says of itself, what a click does, and who else links to it
 * . It is asked for when somebody opens it, and never before.
 *
 * One law: words of the document stand in a quotation of their own, as text, and it says whose they are.
 */
'use strict';

const { addresses, request } = require( 'ext.gadget.weboid-page' );
const { elements, words } = require( 'ext.gadget.weboid-marks' );

const { bounded, create: element, isolated, link: linkTo, urlText, webAddress, withParts } = elements;

/** How often it is asked for while the service is looking at the document. */
const MOST_TRIES = 3;
const PAUSE_MS = 4000;
const MOST_PAGES = 10;

/**
 * @param {any} value
 * @return {string|null} a text that says something
 */
function text( value ) {
	return typeof value === 'string' && value.trim() ? value : null;
}

/**
 * @param {any} value
 * @return {any[]}
 */
function list( value ) {
	return Array.isArray( value ) ? value.filter( ( each ) => each && typeof each === 'object' ).slice( 0, MOST_PAGES ) : [];
}

/**
 * @param {string} message
 * @param {...(Node|string)} parts
 * @return {HTMLElement}
 */
function line( message, ...parts ) {
	return element( 'p', '', ...withParts( message, .../** @type {Node[]} */ ( parts ) ) );
}

/**
 * @param {string} tag
 * @return {string} the language as its reader calls it; the tag where the browser does not know
 */
function languageName( tag ) {
	try {
		// eslint-disable-next-line compat/compat -- browsers that lack it throw, and the tag is shown
		const Names = /** @type {any} */ ( Intl ).DisplayNames;
		return new Names( mw.config.get( 'wgUserLanguage' ), { type: 'language' } ).of( tag );
	} catch ( error ) {
		return bounded( tag, 20 );
	}
}

/**
 * What the document says of itself, as a quotation.
 *
 * @param {any} card
 * @return {Node[]}
 */
function quotation( card ) {
	const said = [
		text( card.title ) && element( 'p', 'weboid-quoted', isolated( card.title ) ),
		text( card.author ) && element( 'p', 'weboid-quoted', isolated( card.author ) ),
		text( card.description ) && element( 'p', 'weboid-subtle', isolated( card.description ) )
	].filter( Boolean );
	if ( !said.length ) {
		return [];
	}
	const quote = element( 'blockquote', 'weboid-quote', .../** @type {Node[]} */ ( said ) );
	if ( text( card.language ) ) {
		quote.lang = card.language;
	}
	return [ element( 'p', 'weboid-label', mw.msg( 'weboid-gadget-card-says' ) ), quote ];
}

/**
 * @param {any} card
 * @param {Weboid.Link} link what stands on the card of it already is not said again
 * @return {Node[]}
 */
function facts( card, link ) {
	const { holds, click } = card;
	const found = [];
	if ( text( card.language ) ) {
		found.push( line( mw.msg( 'weboid-gadget-card-language', '$1' ), isolated( languageName( card.language ) ) ) );
	}
	if ( holds && typeof holds === 'object' ) {
		const counts = [ holds.headings, holds.links, holds.pictures ]
			.map( ( each ) => words.number( Number( each ) ) );
		found.push( element( 'p', '', holds.whole ?
			mw.msg( 'weboid-gadget-card-holds', ...counts ) : mw.msg( 'weboid-gadget-card-begins', ...counts ) ) );
	}
	if ( click && typeof click === 'object' ) {
		if ( click.download && !link.mime ) {
			found.push( element( 'p', '', mw.msg( 'weboid-gadget-card-download' ) ) );
		}
		if ( text( click.other_site ) && !link.target ) {
			found.push( line( mw.msg( 'weboid-gadget-card-site', '$1' ), urlText( click.other_site ) ) );
		}
		if ( click.other_language ) {
			found.push( element( 'p', '', mw.msg( 'weboid-gadget-card-foreign' ) ) );
		}
		if ( click.leaves_https ) {
			found.push( element( 'p', '', mw.msg( 'weboid-gadget-card-plain' ) ) );
		}
	}
	return found;
}

/**
 * The rear mirror: who else links there.
 *
 * @param {any} answer
 * @return {Node[]}
 */
function mirror( answer ) {
	const here = text( answer.wiki );
	const others = list( answer.others ).map( ( page ) => {
		const to = page.wiki === here && Number.isSafeInteger( page.page ) ?
			new URL( `${ mw.config.get( 'wgScript' ) }?curid=${ page.page }`, location.href ).href : null;
		const title = linkTo( to, '', isolated( String( page.title ) ) );
		return element( 'li', '', title, ...( to ? [] : [ ' ', isolated( String( page.wiki ) ) ] ) );
	} );
	const mapped = list( answer.mapped ).map( ( page ) => element(
		'li', '', linkTo( webAddress( page.url ), '', isolated( text( page.title ) || String( page.url ) ) ),
		...( text( page.description ) ? [ element( 'p', 'weboid-subtle', isolated( page.description ) ) ] : [] )
	) );
	/**
	 * @param {string} label
	 * @param {HTMLElement[]} items
	 * @return {Node[]}
	 */
	const listed = ( label, items ) => items.length ?
		[ element( 'p', 'weboid-label', label ), element( 'ul', 'weboid-list', ...items ) ] : [];
	return [
		...listed( mw.msg( 'weboid-gadget-card-others' ), others ),
		...listed( mw.msg( 'weboid-gadget-card-mapped' ), mapped )
	];
}

/**
 * Asks the service, and fills in what it says; again while it does not know yet and somebody looks.
 *
 * @param {HTMLElement} part
 * @param {Weboid.Link} link
 * @param {function(): void} onChange
 * @param {number} tries
 * @return {Promise<void>}
 */
function fill( part, link, onChange, tries ) {
	const status = element( 'p', 'weboid-subtle' );
	status.setAttribute( 'role', 'status' );
	return request( addresses.card( String( link.normal ) ), window.fetch.bind( window ) ).then( ( answer ) => {
		const card = answer && answer.card;
		if ( !card || typeof card !== 'object' ) {
			status.textContent = mw.msg( 'weboid-gadget-card-none' );
			part.replaceChildren( part.children[ 0 ], status );
			return;
		}
		const found = [ ...quotation( card ), ...facts( card, link ) ];
		const isPending = card.state === 'pending' && tries < MOST_TRIES;
		if ( isPending || card.state === 'pending' ) {
			status.textContent = mw.msg( 'weboid-gadget-card-pending' );
		} else if ( !found.length ) {
			status.textContent = mw.msg( 'weboid-gadget-card-none' );
		}
		part.replaceChildren( part.children[ 0 ], ...found, status, ...mirror( answer ) );
		if ( isPending ) {
			setTimeout( () => part.isConnected && fill( part, link, onChange, tries + 1 ), PAUSE_MS );
		}
	}, () => {
		status.textContent = mw.msg( 'weboid-gadget-card-failed' );
		part.replaceChildren( part.children[ 0 ], status );
	} ).then( onChange );
}

/**
 * @param {Weboid.Link} link
 * @param {function(): void} onChange called when it has another size
 * @return {HTMLElement} the part, which is filled in later
 */
function create( link, onChange ) {
	const title = element( 'h3', 'weboid-about-title', mw.msg( 'weboid-gadget-card-open' ) );
	title.tabIndex = -1;
	const waiting = element( 'p', 'weboid-subtle', mw.msg( 'weboid-gadget-card-asked' ) );
	const part = element( 'section', 'weboid-about', title, waiting );
	fill( part, link, onChange, 1 );
	return part;
}

module.exports = { create };
