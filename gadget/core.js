// SPDX-License-Identifier: MIT
/**
 * Which element of a page stands for which link of an answer: the rule of docs/api.md ("Which
 * answer belongs to which link of a page").
 *
 * Of the DOM it reads attributes of elements that it is given, and nothing else. Which parts of the
 * page are searched, and when there is time to compute, is decided in weboid.js.
 */
'use strict';

const { normalForm } = require( './normal-form.js' );

const ABSOLUTE = /^([a-z][a-z0-9+.-]*):(?:\/\/([^/?#]*))?/i;
const DEFAULT_PORT = { http: /:80$/, https: /:443$/ };

/**
 * Where a link leads if that is away from the wiki (step 1 of the rule).
 *
 * @param {string} href the attribute as it stands in the page; browsers change the property
 * @param {string[]} ownHosts the wiki's servers, each as `location.host` has it
 * @return {string|null} the URL as forms in `given` have it; null for links within the wiki
 */
function foreignUrl( href, ownHosts ) {
	const url = href.startsWith( '//' ) ? `https:${ href }` : href;
	const parts = ABSOLUTE.exec( url );
	if ( !parts ) {
		return null;
	}
	const scheme = parts[ 1 ].toLowerCase();
	const authority = ( parts[ 2 ] || '' ).toLowerCase();
	const isWeb = scheme === 'http' || scheme === 'https';
	const host = isWeb ? authority.replace( DEFAULT_PORT[ scheme ], '' ) : authority;
	return ownHosts.includes( host ) ? null : url;
}

/**
 * The links of a page that lead away, to be found by what an answer tells of them.
 *
 * Elements with the same URL are one entry: what is computed of it is computed once.
 *
 * @param {string[]} ownHosts as for `foreignUrl`
 * @return {Weboid.Index}
 */
function createIndex( ownHosts ) {
	/**
	 * @typedef {Object} Entry
	 * @property {string} url
	 * @property {Set<HTMLAnchorElement>} elements
	 * @property {string|null} title `prefix:title` if one of the elements is an interwiki link
	 * @property {string|null} normal
	 */
	/** @type {Map<string, Entry>} by URL */
	const entries = new Map();
	/** @type {Entry[]} whose normal form has not been computed yet */
	const waiting = [];

	/**
	 * @param {HTMLAnchorElement} element
	 * @return {boolean}
	 */
	function add( element ) {
		const url = foreignUrl( element.getAttribute( 'href' ) || '', ownHosts );
		if ( url === null ) {
			return false;
		}
		let entry = entries.get( url );
		if ( !entry ) {
			entry = { url, elements: new Set(), title: null, normal: null };
			entries.set( url, entry );
			waiting.push( entry );
		}
		entry.elements.add( element );
		if ( element.classList.contains( 'extiw' ) ) {
			entry.title = ( element.getAttribute( 'title' ) || '' ).split( '#', 1 )[ 0 ];
		}
		return true;
	}

	/**
	 * @param {number} deadline
	 * @return {boolean}
	 */
	function step( deadline ) {
		let entry = waiting.pop();
		while ( entry ) {
			entry.normal = normalForm( entry.url );
			entry = performance.now() < deadline ? waiting.pop() : undefined;
		}
		return !waiting.length;
	}

	/**
	 * @param {Weboid.Link[]} links
	 * @return {Map<HTMLAnchorElement, Weboid.Link>}
	 */
	function find( links ) {
		const known = linksByForm( links );
		const found = new Map();
		step( Infinity );
		entries.forEach( ( { url, title, normal, elements } ) => {
			const link = known.given.get( url ) || known.title.get( title ) ||
				known.normal.get( normal );
			if ( link ) {
				elements.forEach( ( element ) => found.set( element, link ) );
			}
		} );
		return found;
	}

	return {
		add,
		step,
		find,
		get size() {
			return entries.size;
		}
	};
}

/**
 * @typedef {Object} Known
 * @property {Map<string, Weboid.Link>} given
 * @property {Map<string|null, Weboid.Link>} title by `prefix:title`
 * @property {Map<string|null, Weboid.Link>} normal
 *
 * @param {Weboid.Link[]} links
 * @return {Known} the links by all their forms
 */
function linksByForm( links ) {
	const known = { given: new Map(), title: new Map(), normal: new Map() };
	links.forEach( ( link ) => {
		link.given.forEach( ( given ) => known.given.set( given, link ) );
		if ( link.interwiki ) {
			// Addresses differ between Parsoid and the legacy parser (D-202).
			known.title.set( `${ link.interwiki.prefix }:${ link.interwiki.title }`, link );
		}
		if ( link.normal ) {
			known.normal.set( link.normal, link );
		}
	} );
	return known;
}

module.exports = { createIndex, foreignUrl };
