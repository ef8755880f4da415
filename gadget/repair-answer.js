// SPDX-License-Identifier: MIT
/**
 * Whether an answer of `/api/repair` has the form of docs/api.md: what has another form is never shown or saved.
 */
'use strict';

const { hasTexts, isObject } = require( 'ext.gadget.weboid-marks' );

const CHANGE = [ 'url', 'action', 'why', 'words', 'before', 'after', 'verdict', 'since' ];
const COPY = [ 'address', 'archive', 'taken' ];

/**
 * @param {any} change
 * @return {boolean}
 */
function isChange( change ) {
	return hasTexts( change, CHANGE ) && typeof change.url === 'string' &&
		( change.copy === null || hasTexts( change.copy, COPY ) ) &&
		Array.isArray( change.copies ) &&
		change.copies.every( ( /** @type {any} */ copy ) => hasTexts( copy, COPY ) && typeof copy.address === 'string' );
}

/**
 * @param {any} answer
 * @return {Weboid.RepairAnswer}
 * @throws {Error} if it is none
 */
function checked( answer ) {
	if (
		!isObject( answer ) || typeof answer.wikitext !== 'string' || typeof answer.summary !== 'string' ||
		!Array.isArray( answer.changes ) || !answer.changes.every( isChange ) ||
		!Array.isArray( answer.left ) ||
		!answer.left.every( ( /** @type {any} */ each ) => hasTexts( each, [ 'url', 'words' ] ) && typeof each.url === 'string' )
	) {
		throw new Error( mw.msg( 'weboid-gadget-repair-rubbish' ) );
	}
	return answer;
}

module.exports = { checked };
