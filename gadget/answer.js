// SPDX-License-Identifier: MIT
/**
 * Whether the links of an answer have the form of docs/api.md. It comes with the first links that there are to check.
 */
'use strict';

const VERDICTS = [ 'working', 'doubtful', 'dead', 'unknown', 'invalid', 'spam' ];

/** Which values of a link are text; each may be null. */
const TEXTS = [
	'normal', 'host_unicode', 'class', 'since', 'checked', 'next_check', 'target', 'mime', 'reported', 'assumed',
	'replacement', 'probably_meant', 'summary', 'explanation', 'copy_summary'
];
/** Which are objects, each with its texts. */
const OBJECTS = new Map( [
	[ 'interwiki', [ 'prefix', 'title' ] ],
	[ 'wikitext', [ 'template', 'parameters', 'dead' ] ]
] );
/** Which are lists of objects, each with its texts. */
const LISTS = new Map( [
	[ 'snapshots', [ 'title', 'snapshot', 'taken', 'origin', 'note' ] ],
	[ 'history', [ 'outcome', 'first', 'last' ] ],
	[ 'hints', [ 'kind' ] ]
] );
/** Of longer lists a card shows no more. */
const MOST_ENTRIES = 50;

/**
 * @param {any} value
 * @return {boolean} whether it is an object, and no list
 */
function isObject( value ) {
	return typeof value === 'object' && value !== null && !Array.isArray( value );
}

/**
 * @param {any} value
 * @return {boolean} whether it is null or was not given at all
 */
function isAbsent( value ) {
	return value === null || value === undefined;
}

/**
 * @param {any} value
 * @param {string[]} texts
 * @return {boolean} whether it is an object in which these are text or null
 */
function hasTexts( value, texts ) {
	return isObject( value ) &&
		texts.every( ( key ) => isAbsent( value[ key ] ) || typeof value[ key ] === 'string' );
}

/**
 * @param {any} link
 * @return {boolean} whether its values have the types of docs/api.md
 */
function isLink( link ) {
	return hasTexts( link, TEXTS ) && VERDICTS.includes( link.verdict ) &&
		( isAbsent( link.repaired ) || typeof link.repaired === 'boolean' ) &&
		( isAbsent( link.size_kib ) || typeof link.size_kib === 'number' ) &&
		Array.isArray( link.given ) &&
		link.given.every( ( /** @type {any} */ given ) => typeof given === 'string' ) &&
		Array.from( OBJECTS ).every(
			( [ key, texts ] ) => isAbsent( link[ key ] ) || hasTexts( link[ key ], texts )
		) &&
		Array.from( LISTS ).every( ( [ key, texts ] ) => isAbsent( link[ key ] ) ||
			Array.isArray( link[ key ] ) && link[ key ].length <= MOST_ENTRIES &&
			link[ key ].every( ( /** @type {any} */ entry ) => hasTexts( entry, texts ) ) );
}

/**
 * @param {Weboid.KnownLinks} known
 * @return {Weboid.KnownLinks}
 * @throws {Error} if one of them is no link
 */
function checkedLinks( known ) {
	if ( !known.links.every( isLink ) ) {
		throw new Error( 'this is no answer about a page' );
	}
	return known;
}

module.exports = { checkedLinks, hasTexts, isObject };
