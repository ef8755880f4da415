// SPDX-License-Identifier: MIT
/**
 * A row in the information about the page (G-2).
 */
'use strict';

const { addresses } = require( 'ext.gadget.weboid-page' );
const { create } = require( './elements.js' );
const words = require( './words.js' );

/**
 * Adds the row to the first table of action=info.
 *
 * @param {Weboid.PageAnswer} page
 */
function addInfoRow( { counts, repaired } ) {
	const body = document.querySelector( 'table.mw-page-info tbody' );
	if ( !body ) {
		return;
	}
	const text = mw.msg(
		'weboid-gadget-info-counts',
		...[ total( counts ), counts.dead || 0, counts.doubtful || 0 ].map( words.number )
	);
	const copied = total( repaired || {} );
	const more = copied ? ` – ${ mw.msg( 'weboid-gadget-summary-repaired', words.number( copied ) ) }` : '';
	const link = create( 'a', '', text + more );
	link.setAttribute( 'href', addresses.listOfPage() );
	const row = create(
		'tr', '', create( 'td', '', mw.msg( 'weboid-gadget-info-label' ) ), create( 'td', '', link )
	);
	row.id = 'mw-pageinfo-weboid';
	body.append( row );
}

/**
 * @param {Object<string,number>} counts
 * @return {number}
 */
function total( counts ) {
	return Object.keys( counts ).reduce( ( sum, verdict ) => sum + ( Number( counts[ verdict ] ) || 0 ), 0 );
}

module.exports = { addInfoRow };
