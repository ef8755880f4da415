// SPDX-License-Identifier: MIT
/**
 * Pages of the service to which people are sent, filled in for the page that they read.
 */
'use strict';

const config = require( './config.json' );

/**
 * @param {string} path
 * @param {Object<string,string>} parameters
 * @return {string}
 */
function address( path, parameters ) {
	const query = new URLSearchParams( parameters );
	query.set( 'dbname', `${ mw.config.get( 'wgWikiID' ) }@${ config.farm }` );
	query.set( 'lang', mw.config.get( 'wgUserLanguage' ) );
	return `${ config.service }${ path }?${ query }`;
}

/**
 * With the page that has the link, so that its reader is asked nothing first (W-5).
 *
 * @param {string} path
 * @param {string} url
 * @return {string}
 */
function addressOfLink( path, url ) {
	return address( path, { url, pageid: String( mw.config.get( 'wgArticleId' ) ) } );
}

/**
 * @return {string} all that is known of the links of this page (W-3)
 */
function listOfPage() {
	return address( '/externalLinkInfo', { pageid: String( mw.config.get( 'wgArticleId' ) ) } );
}

/**
 * @param {string} url a normal form
 * @return {string} more about it, and the pages that use it
 */
function aboutLink( url ) {
	return addressOfLink( '/url', url );
}

/**
 * @param {string} url a normal form
 * @return {string} where people report that it works, and have it checked now (H-1, W-14)
 */
function report( url ) {
	return addressOfLink( '/report', url );
}

/**
 * @param {string} url a normal form
 * @return {string} where people suggest what to read instead
 */
function replacement( url ) {
	return addressOfLink( '/replacement', url );
}

/**
 * @param {string} url a normal form
 * @return {string} what a card says of it when it is asked
 */
function card( url ) {
	return address( '/api/card', {
		url, pageid: String( mw.config.get( 'wgArticleId' ) ), pagelang: mw.config.get( 'wgPageContentLanguage' ) || ''
	} );
}

module.exports = { aboutLink, card, listOfPage, replacement, report };
