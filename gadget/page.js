// SPDX-License-Identifier: MIT
/**
 * What the gadget does with a page that has links to other sites: the link in the toolbox, the question to the service,
 * and the marks if there is something to mark.
 */
'use strict';

const { ownHosts, usePart } = require( 'ext.gadget.weboid' );
const addresses = require( './addresses.js' );
const config = require( './config.json' );
const messages = require( './messages.js' );
const preferences = require( './preferences.js' );
const service = require( './service.js' );

/** @type {Map<number,Promise<Weboid.KnownLinks>>} by revision, so that one view asks once (D-222) */
const answers = new Map();

/**
 * @return {boolean} whether the reader wants to know of the links of this page
 */
function isWanted() {
	const wanted = preferences.get();
	return ( wanted.namespaces === 'all' || mw.config.get( 'wgContentNamespaces' ).includes( mw.config.get( 'wgNamespaceNumber' ) ) ) &&
		( wanted.dead || wanted.doubtful || wanted.files || wanted.cards === 'all' );
}

/**
 * @return {boolean} whether the service may be asked without the reader's word for this page
 */
function isAllowed() {
	return !config.consent || preferences.get().always;
}

/**
 * What the service knows of the page as it is now on the wiki, whichever revision or preview is shown.
 *
 * @return {Promise<Weboid.KnownLinks>}
 */
function askOnce() {
	const revision = mw.config.get( 'wgCurRevisionId' );
	let answer = answers.get( revision );
	if ( !answer ) {
		answer = service.ask( {
			page: mw.config.get( 'wgArticleId' ),
			revision,
			language: mw.config.get( 'wgUserLanguage' ),
			extent: preferences.get().cards === 'all' ? 'all' : 'notes'
		} );
		answers.set( revision, answer );
	}
	return answer;
}

/**
 * A part of the gadget that says more than stands on the page, and its words.
 *
 * @param {string} name
 * @return {Promise<any>}
 */
function useLater( name ) {
	return Promise.all( [ usePart( name ), messages.load( 'more' ) ] ).then( ( [ part ] ) => part );
}

/**
 * Adds a link to the toolbox, once.
 *
 * @param {string} id
 * @param {string} href
 * @param {string} text
 * @param {string} [tooltip]
 * @return {HTMLElement|null}
 */
function addTool( id, href, text, tooltip ) {
	return document.getElementById( id ) ? null : mw.util.addPortletLink( 'p-tb', href, text, id, tooltip );
}

/**
 * @param {string} id
 * @param {string} text
 * @param {function(): void} onClick
 */
function addButton( id, text, onClick ) {
	const item = addTool( id, '#', text );
	if ( item ) {
		item.addEventListener( 'click', ( event ) => {
			event.preventDefault();
			onClick();
		} );
	}
}

/**
 * Adds the links of this page to the toolbox (G-2), and the settings for whom no card leads there.
 */
function addTools() {
	if ( isWanted() ) {
		addTool( 't-weboid', addresses.listOfPage(), mw.msg( 'weboid-gadget-toolbox' ), mw.msg( 'weboid-gadget-toolbox-tooltip' ) );
	}
	if ( !preferences.get().dead && !preferences.get().doubtful ) {
		addButton( 't-weboid-settings', mw.msg( 'weboid-gadget-settings-title' ), () => {
			useLater( 'card' ).then( ( card ) => card.openSettings() ).catch( mw.log.error );
		} );
	}
}

/**
 * Marks the links of parts of the page.
 *
 * @param {HTMLElement[]} roots each with a link that leads away
 * @return {Promise<void>}
 */
function handle( roots ) {
	const tools = messages.load( 'first' ).then( addTools );
	if ( !isWanted() ) {
		return tools;
	}
	return tools.then( () => isAllowed() || usePart( 'consent' ).then( ( consent ) => consent.wait() ) ).then( askOnce ).then( ( answer ) => {
		if ( !answer.links.length ) {
			return roots.forEach( tell );
		}
		return usePart( 'marks' ).then( ( marks ) => Promise.all( roots.map(
			( root ) => marks.show( root, answer, ownHosts ).then( () => root.isConnected && tell( root ) )
		) ) ).then( () => undefined );
	} );
}

/**
 * For other gadgets: the links of this part of the page have their marks.
 *
 * @param {HTMLElement} root
 */
function tell( root ) {
	mw.hook( 'weboid.marked' ).fire( $( root ) );
}

/**
 * Says on action=info how many of the page's links are dead.
 *
 * @return {Promise<void>}
 */
function showInfo() {
	return isWanted() && isAllowed() ? askOnce().then( ( { page } ) => page ?
		Promise.all( [ usePart( 'marks' ), messages.load( 'first' ) ] )
			.then( ( [ marks ] ) => $( () => marks.addInfoRow( page ) ) ).then( () => undefined ) :
		undefined ) : Promise.resolve();
}

module.exports = {
	addButton, addresses, config, handle, messages, preferences, request: service.requestPart, service, showInfo,
	useLater
};
