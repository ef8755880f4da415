// SPDX-License-Identifier: MIT
/**
 * Loads a part of the gadget, as a gadget of its own that nobody sees in the preferences. The user script, in which all
 * parts are, has its own way in place of this file.
 */
'use strict';

/**
 * @param {string} name as in definition.txt, without `weboid-`
 * @return {Promise<any>} what its first file exports
 */
module.exports = ( name ) => {
	const module = `ext.gadget.weboid-${ name }`;
	return Promise.resolve( mw.loader.using( module ) ).then( ( requireModule ) => requireModule( module ) );
};
