// SPDX-License-Identifier: MIT
/**
 * Shows in a part of the page what an answer says of its links, in slices while the browser is idle.
 */
'use strict';

const { useLater } = require( 'ext.gadget.weboid-page' );
const { checkedLinks, hasTexts, isObject } = require( './answer.js' );
const core = require( './core.js' );
const elements = require( './elements.js' );
const { addInfoRow } = require( './info.js' );
const marks = require( './marks.js' );
const { normalForm } = require( './normal-form.js' );
const repairing = require( './repairing.js' );
const words = require( './words.js' );

/** For how long one slice of work may keep the page waiting. */
const SLICE_MS = 8;

/** After so long work goes on even if the browser is never idle. */
const PATIENCE_MS = 1000;

/** In which elements links are not the content's. */
const NOT_CONTENT = '.mw-editsection, .weboid-summary';

/** In which elements a link and its copy stand together. */
const TOGETHER = 'li, p, td, th, dd, dt, caption, figcaption';

/** How far into an address one that it contains begins at least. */
const WITHIN = 13;

/** @type {WeakSet<HTMLAnchorElement>} links that have been looked at */
const seen = new WeakSet();

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
 * Opens the card of a mark, once what that takes is there.
 *
 * @param {HTMLButtonElement} mark
 * @param {Weboid.Link} link
 * @param {string} answerDay
 * @param {boolean} byHover whether the pointer merely rests there
 */
function openCard( mark, link, answerDay, byHover ) {
	useLater( 'card' ).then( ( card ) => {
		const under = document.querySelectorAll( ':hover' );
		if ( mark.isConnected && ( !byHover || marks.markAt( under[ under.length - 1 ] ) === mark ) ) {
			card.open( mark, link, { answerDay }, byHover );
		}
	} ).catch( mw.log.error );
}

/**
 * What is known of the links of a page, for each place: where a link has its copy next to it, it is not repaired at its
 * other places.
 *
 * @param {Map<HTMLAnchorElement,Weboid.Link>} found
 * @return {Array<[HTMLAnchorElement,Weboid.Link]>}
 */
function byPlace( found ) {
	const hasCopy = ( /** @type {HTMLAnchorElement} */ element ) => {
		const own = ( element.getAttribute( 'href' ) || '' ).replace( /^([a-z]+:)?\/\/(www\.)?|\/+$/gi, '' );
		return Array.from( ( element.closest( TOGETHER ) || element ).querySelectorAll( 'a[href]' ) )
			.some( ( other ) => ( other.getAttribute( 'href' ) || '' ).includes( own, WITHIN ) );
	};
	const repaired = Array.from( found ).filter( ( [ element, link ] ) => link.repaired && hasCopy( element ) );
	const places = new Set( repaired.map( ( [ element ] ) => element ) );
	const links = new Set( repaired.map( ( [ , link ] ) => link ) );
	return Array.from( found, ( [ element, link ] ) => [
		element, links.has( link ) && !places.has( element ) ? Object.assign( {}, link, { repaired: false } ) : link
	] );
}

/**
 * Marks the links of a part of the page.
 *
 * @param {HTMLElement} root
 * @param {Weboid.KnownLinks} answer
 * @param {string[]} ownHosts
 * @return {Promise<void>}
 */
function show( root, answer, ownHosts ) {
	const index = core.createIndex( ownHosts );
	const links = /** @type {HTMLAnchorElement[]} */ ( Array.from( root.querySelectorAll( 'a[href]' ) ) );
	return eachInSlices( links, ( element ) => {
		if ( !seen.has( element ) && !element.closest( NOT_CONTENT ) ) {
			seen.add( element );
			index.add( element );
		}
	} ).then( () => inSlices( index.step ) ).then( () => {
		const found = index.find( answer.links );
		const here = byPlace( found );
		if ( here.some( ( [ , link ] ) => link.verdict === 'dead' && !link.repaired ) ) {
			repairing.offerRepair();
		}
		return eachInSlices( here, ( [ element, link ] ) => {
			// The content may have been replaced in the meantime.
			if ( element.isConnected ) {
				marks.mark( element, link, {
					onOpen: ( mark, byHover ) => openCard( mark, link, answer.day, byHover )
				} );
			}
		} ).then( () => {
			if ( root.isConnected ) {
				marks.summary( root, Array.from( new Set( found.values() ) ) );
			}
		} );
	} );
}

module.exports = {
	addInfoRow, checkedLinks, elements, hasTexts, isObject, markAt: marks.markAt, normalForm, repairing, show, words
};
