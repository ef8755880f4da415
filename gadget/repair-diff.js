// SPDX-License-Identifier: MIT
/**
 * What changes in a piece of wikitext, as elements: what goes, what comes, and some of what is around.
 */
'use strict';

const { elements: { create } } = require( 'ext.gadget.weboid-marks' );

/** Characters around what changes. */
const AROUND = 120;
/** Of what goes or comes, no more is shown. */
const MOST = 2000;

/**
 * @param {string} text
 * @param {number} most
 * @return {string}
 */
function cut( text, most ) {
	return text.length > most ? `${ text.slice( 0, most ) }…` : text;
}

/**
 * How many characters two texts have in common at their beginning, words left whole.
 *
 * @param {string[]} before
 * @param {string[]} after
 * @return {number} of words
 */
function common( before, after ) {
	const most = Math.min( before.length, after.length );
	let count = 0;
	while ( count < most && before[ count ] === after[ count ] ) {
		count++;
	}
	return count;
}

/**
 * @param {string} before
 * @param {string} after
 * @return {HTMLElement}
 */
function diff( before, after ) {
	const words = ( /** @type {string} */ text ) => text.match( /[^\s|{}[\]<>]+|\s+|[|{}[\]<>]/g ) || [];
	const [ old, now ] = [ words( before ), words( after ) ];
	const start = common( old, now );
	const end = common( old.slice( start ).reverse(), now.slice( start ).reverse() );
	const head = old.slice( 0, start ).join( '' );
	const gone = old.slice( start, old.length - end ).join( '' );
	const come = now.slice( start, now.length - end ).join( '' );
	const tail = old.slice( old.length - end ).join( '' );
	const shown = create(
		'div', 'weboid-diff',
		head.length > AROUND ? `…${ head.slice( -AROUND ) }` : head,
		gone ? create( 'del', '', cut( gone, MOST ) ) : null,
		come ? create( 'ins', '', cut( come, MOST ) ) : null,
		cut( tail, AROUND )
	);
	shown.dir = 'auto';
	return shown;
}

module.exports = { diff };
