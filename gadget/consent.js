// SPDX-License-Identifier: MIT
/**
 * On wikis that want it so: nothing is sent until the reader has said so, for this page or for all that are to come.
 */
'use strict';

const { addButton, preferences } = require( 'ext.gadget.weboid-page' );

/** @type {Promise<void>|undefined} */
let given;

/**
 * Offers to ask, in the toolbox.
 *
 * @return {Promise<void>} resolved once the reader has said so
 */
function wait() {
	given = given || new Promise( ( resolve ) => {
		const items = [ 't-weboid-ask', 't-weboid-always' ];
		const agree = () => {
			items.forEach( ( id ) => {
				const item = document.getElementById( id );
				if ( item ) {
					item.remove();
				}
			} );
			resolve();
		};
		addButton( items[ 0 ], mw.msg( 'weboid-gadget-ask' ), agree );
		addButton( items[ 1 ], mw.msg( 'weboid-gadget-ask-always' ), () => {
			agree();
			// Where nothing can be kept, the next page is asked about anew.
			preferences.set( Object.assign( {}, preferences.read(), { always: true } ) ).catch( mw.log.warn );
		} );
	} );
	return given;
}

module.exports = { wait };
