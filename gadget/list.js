// SPDX-License-Identifier: MIT
/**
 * The reader's own pages with dead links that are not repaired: of the watchlist, of own edits, or of a category. The
 * wiki tells which pages these are and how often they are read; the service is handed their numbers in one request.
 */
'use strict';

const { addButton, messages, service, useLater } = require( 'ext.gadget.weboid-page' );

/** As many as the service takes in one request. */
const MOST_PAGES = 500;
/** As many as a wiki tells the views of at a time. */
const MOST_VIEWS = 50;
const TIMEOUT_MS = 40000;

/**
 * @typedef {Object} Found
 * @property {number} id
 * @property {string} title
 * @property {number} dead
 * @property {number} views in the last 30 days; 0 where the wiki does not tell
 */

/**
 * The wiki's question for the pages that are meant here.
 *
 * @return {Object<string,any>|null} null if none are
 */
function pagesHere() {
	const user = mw.config.get( 'wgUserName' );
	const special = mw.config.get( 'wgCanonicalSpecialPageName' );
	const generator = ( /** @type {string} */ name, /** @type {Object<string,any>} */ more ) => Object.assign(
		{ action: 'query', formatversion: 2, generator: name }, more
	);
	if ( special === 'Watchlist' && user ) {
		return generator( 'watchlistraw', { gwrlimit: MOST_PAGES, gwrnamespace: mw.config.get( 'wgContentNamespaces' ) } );
	}
	if ( special === 'Contributions' && user && mw.config.get( 'wgRelevantUserName' ) === user ) {
		return {
			action: 'query', formatversion: 2, list: 'usercontribs', ucuser: user, uclimit: MOST_PAGES, ucprop: 'ids',
			ucnamespace: mw.config.get( 'wgContentNamespaces' )
		};
	}
	return mw.config.get( 'wgNamespaceNumber' ) === 14 ? generator( 'categorymembers', {
		gcmtitle: mw.config.get( 'wgPageName' ), gcmlimit: MOST_PAGES, gcmtype: 'page',
		gcmnamespace: mw.config.get( 'wgContentNamespaces' )
	} ) : null;
}

/**
 * @param {Object<string,any>} question
 * @return {Promise<any>}
 */
function askWiki( question ) {
	return new Promise( ( resolve, reject ) => {
		new mw.Api().get( question ).then( resolve, ( code ) => reject( new Error( code ) ) );
	} );
}

/**
 * @param {number[]} ids
 * @return {Promise<Found[]>} those with dead links that are not repaired
 */
function askService( ids ) {
	/** @type {Map<number,Found>} */
	const found = new Map();
	/**
	 * @param {string|null} place where the answer goes on
	 * @return {Promise<Found[]>}
	 */
	function next( place ) {
		/** @type {Object<string,string>} */
		const fields = { pageid: ids.join( '|' ), verdict: 'dead', format: 'json' };
		if ( place ) {
			fields.continue = place;
		}
		return service.post( '/api/page', fields, TIMEOUT_MS ).then( ( answer ) => {
			answer.pages.forEach( ( /** @type {any} */ page ) => {
				const dead = page.links.filter( ( /** @type {any} */ link ) => !link.repaired ).length;
				const before = found.get( page.id );
				if ( ids.includes( page.id ) && dead ) {
					found.set( page.id, {
						id: page.id, title: '', dead: dead + ( before ? before.dead : 0 ), views: 0
					} );
				}
			} );
			const more = answer.continue;
			return typeof more === 'string' && more !== place ? next( more ) : Array.from( found.values() );
		} );
	}
	return ids.length ? next( null ) : Promise.resolve( [] );
}

/**
 * What the wiki says of the pages: their titles, and how often they are read, if it has PageViewInfo.
 *
 * @param {Found[]} found
 * @return {Promise<Found[]>} the most read first, then those with most dead links
 */
function named( found ) {
	found.sort( ( one, other ) => other.dead - one.dead );
	const some = [];
	for ( let at = 0; at < found.length; at += MOST_VIEWS ) {
		some.push( found.slice( at, at + MOST_VIEWS ) );
	}
	return Promise.all( some.map( ( part ) => askWiki( {
		action: 'query', formatversion: 2, prop: 'info|pageviews', pvipdays: 30, pageids: part.map( ( { id } ) => id )
	} ).then( ( { query } ) => part.forEach( ( each ) => {
		const page = query.pages.find( ( /** @type {any} */ one ) => one.pageid === each.id ) || {};
		each.title = page.title || '';
		each.views = Object.keys( page.pageviews || {} )
			.reduce( ( sum, day ) => sum + ( Number( page.pageviews[ day ] ) || 0 ), 0 );
	} ) ) ) ).then( () => found.filter( ( { title } ) => title )
		.sort( ( one, other ) => other.views - one.views || other.dead - one.dead ) );
}

/**
 * @param {any} marks the part that has elements and words
 * @param {Found} page
 * @return {HTMLElement}
 */
function entry( { elements: { create }, words }, { title, dead, views } ) {
	const link = create( 'a', '', title );
	link.setAttribute( 'href', mw.util.getUrl( title ) );
	const repair = create( 'a', '', mw.msg( 'weboid-gadget-list-repair' ) );
	repair.setAttribute( 'href', mw.util.getUrl( title, { weboidrepair: 1 } ) );
	const count = mw.msg( 'weboid-gadget-list-dead', words.number( dead ) );
	const read = views ? ` · ${ mw.msg( 'weboid-gadget-list-views', words.number( views ) ) }` : '';
	return create( 'li', '', link, ` – ${ count }${ read } · `, repair );
}

/**
 * Opens the list.
 *
 * @param {any} marks the part that has elements and words
 * @param {any} card the part that has dialogs
 * @param {Object<string,any>} question
 */
function open( marks, { closeDialog, showDialog }, question ) {
	const { elements: { bounded, button, create }, words } = marks;
	const status = create( 'p', '', mw.msg( 'weboid-gadget-repair-wait' ) );
	status.setAttribute( 'role', 'status' );
	const list = create( 'ul', 'weboid-list' );
	const close = button( 'weboid-button', mw.msg( 'weboid-gadget-close' ), closeDialog );
	showDialog(
		'weboid-pages', mw.msg( 'weboid-gadget-list-title' ), status, list, create( 'div', 'weboid-buttons', close )
	);
	askWiki( question ).then( ( { query = {} } ) => {
		const rows = query.pages || query.usercontribs || [];
		const ids = rows.map( ( /** @type {any} */ row ) => row.pageid ).filter( Boolean );
		return askService( Array.from( new Set( ids ) ) ).then( named ).then( ( found ) => {
			status.textContent = mw.msg( 'weboid-gadget-list-found', words.number( found.length ), words.number( ids.length ) );
			list.append( ...found.map( ( page ) => entry( marks, page ) ) );
		} );
	} ).catch( ( error ) => {
		status.textContent = mw.msg( 'weboid-gadget-repair-failed', bounded( error.message ) );
	} );
}

/**
 * Offers the list in the toolbox, where there are such pages.
 */
function offer() {
	const question = pagesHere();
	if ( question ) {
		messages.load( 'more' ).then(
			() => addButton( 't-weboid-list', mw.msg( 'weboid-gadget-list-title' ), () => {
				Promise.all( [ useLater( 'marks' ), useLater( 'card' ), mw.loader.using( 'mediawiki.api' ) ] )
					.then( ( [ marks, card ] ) => open( marks, card, question ) ).catch( mw.log.error );
			} ), mw.log.error
		);
	}
}

module.exports = { offer };
