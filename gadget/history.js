// SPDX-License-Identifier: MIT
/**
 * What a URL answered when, as bars on a time line (U-3): the numbers of
 * weboid/web/pages/url.py. They are drawn, and said in words, in card-contents.js.
 */
'use strict';

/** The width of the whole line; of what unit is up to the drawing. */
const WIDTH = 600;
/** The narrowest bar, so that a single day can be seen. */
const LEAST = 6;
/** The most entries that a history has. */
const LIMIT = 5;
const OUTCOMES = [ 'working', 'doubtful', 'failing' ];
const MS_A_DAY = 86400000;
const ISO_DAY = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;

/**
 * @param {string|null} day an ISO date
 * @return {number} days since 1970; NaN for what is no date
 */
function dayNumber( day ) {
	return day && ISO_DAY.test( day ) ? Date.parse( day ) / MS_A_DAY : NaN;
}

/**
 * @param {number} value
 * @return {number} the nearest integer, of two equally near ones the even one, as Python rounds
 */
function rounded( value ) {
	const below = Math.floor( value );
	return value - below === 0.5 ? below + below % 2 : Math.round( value );
}

/**
 * The bars of a history, oldest first, on a line from its first day to `day`; nothing is known of
 * the gaps between them.
 *
 * @param {Weboid.HistoryEntry[]} history newest first
 * @param {string|null} day that of the answer
 * @return {Weboid.Bar[]} none if something of this is not as docs/api.md has it
 */
function bars( history, day ) {
	const entries = history.slice( 0, LIMIT ).reverse().map( ( { first, last, outcome } ) => (
		{ first: dayNumber( first ), last: dayNumber( last ), outcome }
	) );
	if ( !entries.length ) {
		return [];
	}
	const start = entries[ 0 ].first;
	const end = Math.max( dayNumber( day ), entries[ entries.length - 1 ].last );
	const scale = WIDTH / ( end - start + 1 );
	const found = entries.map( ( { first, last, outcome } ) => {
		const width = Math.max( LEAST, rounded( ( last - first + 1 ) * scale ) );
		const x = Math.min( rounded( ( first - start ) * scale ), WIDTH - width );
		return { x, width, outcome };
	} );
	const isSound = found.every( ( { x, width, outcome } ) => (
		x >= 0 && width <= WIDTH && OUTCOMES.includes( outcome )
	) );
	return isSound ? found : [];
}

module.exports = { WIDTH, bars };
