// SPDX-License-Identifier: MIT
/**
 * Makes messages known in the reader's language, or in the one that stands in for it: one page of the wiki each, which
 * has in it what its language has not and others say for it.
 */
'use strict';

/** @type {Weboid.Config} */
const config = /** @type {any} */ ( require( './config.json' ) );

const MONTH_S = 2592000;

/** @type {Map<string,Promise<void>>} by set */
const loaded = new Map();

/**
 * @return {Promise<string>} the nearest language that has messages
 */
function language() {
	const own = mw.config.get( 'wgUserLanguage' );
	return config.languages.includes( own ) ?
		Promise.resolve( own ) :
		Promise.resolve( mw.loader.using( 'mediawiki.language' ) ).then( () => mw.language.getFallbackLanguageChain()
			.find( ( /** @type {string} */ code ) => config.languages.includes( code ) ) || 'en' );
}

/**
 * @param {string} set
 * @param {string} code
 * @return {Promise<Object<string,string>>}
 */
function fetchSet( set, code ) {
	return fetch( mw.util.getUrl( `MediaWiki:Gadget-weboid-messages-${ set }-${ code }.json`, {
		action: 'raw', ctype: 'application/json', maxage: MONTH_S, smaxage: MONTH_S,
		// Another address for other messages: what is kept for a month needs no other end.
		weboid: config.edition
	} ) ).then( ( response ) => {
		if ( !response.ok ) {
			throw new Error( `Weboid: no messages: ${ response.url }: ${ response.status }` );
		}
		return response.json();
	} );
}

/**
 * @param {'first'|'more'} set `first` is all that stands on a page whose cards are shut
 * @return {Promise<void>} rejected if there are none
 */
function load( set ) {
	let known = loaded.get( set );
	if ( !known ) {
		known = language()
			.then( ( code ) => config.texts ? config.texts[ code ] : fetchSet( set, code ) )
			.then( ( texts ) => {
				mw.messages.set( texts );
			} );
		known.catch( () => loaded.delete( set ) );
		loaded.set( set, known );
	}
	return known;
}

module.exports = { load };
