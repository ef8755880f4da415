// SPDX-License-Identifier: MIT
/**
 * The wiki's side of a repair: the newest revision and whether it may be edited, its editor, saving, the page anew.
 */
'use strict';

const { elements: { bounded } } = require( 'ext.gadget.weboid-marks' );

/** What a repaired page is tagged with, where the wiki has that tag. */
const TAG = 'weboid';
/** What MediaWiki's editor wants to have back as it is. */
const UNICODE_CHECK = 'ℳ𝒲♥𝓊𝓃𝒾𝒸ℴ𝒹ℯ';

/** The wiki refuses, in its own words. */
class RefusedError extends Error {
	/**
	 * @param {string} code
	 * @param {any} data
	 */
	constructor( code, data ) {
		const known = data && data.errors && data.errors[ 0 ];
		super( bounded( known && known.text || code ) );
		this.code = code;
	}
}

/**
 * @param {'get'|'postWithEditToken'} method
 * @param {Object<string,any>} question
 * @return {Promise<any>} rejected with RefusedError
 */
function ask( method, question ) {
	const api = new mw.Api();
	const asked = Object.assign( {
		formatversion: 2, errorformat: 'plaintext', uselang: mw.config.get( 'wgUserLanguage' )
	}, question );
	return new Promise( ( resolve, reject ) => {
		api[ method ]( asked ).then( resolve, ( code, data ) => reject( new RefusedError( code, data ) ) );
	} );
}

/**
 * The revision that is repaired.
 *
 * @return {Promise<Weboid.BaseRevision>} rejected with the wiki's reason if it may not be edited
 */
function fetchBase() {
	return ask( 'get', {
		action: 'query', prop: 'info|revisions', pageids: mw.config.get( 'wgArticleId' ), rvprop: 'ids|timestamp',
		intestactions: 'edit', intestactionsdetail: 'full', curtimestamp: true
	} ).then( ( { query, curtimestamp } ) => {
		const [ page ] = query.pages;
		const [ reason ] = page.actions.edit;
		if ( reason ) {
			throw new Error( mw.msg( 'weboid-gadget-repair-refused', bounded( reason.text || reason.code ) ) );
		}
		return { revision: page.revisions[ 0 ].revid, saved: page.revisions[ 0 ].timestamp, started: curtimestamp };
	} );
}

/**
 * @param {string} iso
 * @return {string} the same moment as MediaWiki's forms have it
 */
function stamp( iso ) {
	return iso.replace( /\D/g, '' );
}

/**
 * Opens the wiki's editor with a text, a summary, and what would change.
 *
 * @param {string} text
 * @param {string} summary
 * @param {Weboid.BaseRevision} base
 */
function openEditor( text, summary, base ) {
	/** @type {Object<string,string>} */
	const fields = {
		wpTextbox1: text,
		wpSummary: summary,
		wpDiff: '1',
		wpStarttime: stamp( base.started ),
		wpEdittime: stamp( base.saved ),
		editRevId: String( base.revision ),
		parentRevId: String( base.revision ),
		wpEditToken: mw.user.tokens.get( 'csrfToken' ),
		wpUnicodeCheck: UNICODE_CHECK,
		format: 'text/x-wiki',
		model: 'wikitext'
	};
	if ( Number( mw.user.options.get( 'minordefault' ) ) ) {
		fields.wpMinoredit = '1';
	}
	if ( Number( mw.user.options.get( 'watchdefault' ) ) ) {
		fields.wpWatchthis = '1';
	}
	// The last one, by which MediaWiki sees that nothing was cut off.
	fields.wpUltimateParam = '1';
	const form = document.createElement( 'form' );
	form.method = 'post';
	form.enctype = 'multipart/form-data';
	form.action = mw.util.getUrl( mw.config.get( 'wgPageName' ), { action: 'submit' } );
	form.hidden = true;
	Object.keys( fields ).forEach( ( name ) => {
		const field = document.createElement( 'textarea' );
		field.name = name;
		field.value = fields[ name ];
		form.append( field );
	} );
	document.body.append( form );
	form.submit();
}

/**
 * Saves the text of the page.
 *
 * @param {string} text
 * @param {Weboid.BaseRevision} base
 * @param {{summary: string, isMinor: boolean, isWatched: boolean}} form
 * @param {string} [tag]
 * @return {Promise<number>} the new revision; rejected with RefusedError
 */
function save( text, base, { summary, isMinor, isWatched }, tag = TAG ) {
	return ask( 'postWithEditToken', {
		action: 'edit', pageid: mw.config.get( 'wgArticleId' ), text, summary, nocreate: true,
		minor: isMinor, notminor: !isMinor, watchlist: isWatched ? 'watch' : 'nochange', tags: tag || undefined,
		baserevid: base.revision, starttimestamp: base.started,
		assert: mw.config.get( 'wgUserName' ) === null ? undefined : 'user'
	} ).then( ( { edit } ) => {
		if ( !edit || edit.result !== 'Success' ) {
			// A question to prove that one is human, for instance.
			throw new Error( mw.msg( 'weboid-gadget-repair-more' ) );
		}
		return edit.newrevid || base.revision;
	}, ( error ) => {
		if ( tag && /tags/.test( error.code ) ) {
			return save( text, base, { summary, isMinor, isWatched }, '' );
		}
		throw error;
	} );
}

/**
 * Shows a new revision of the page in place of the old one, with its marks.
 *
 * @param {number} revision
 * @return {Promise<void>}
 */
function renew( revision ) {
	return ask( 'get', {
		action: 'parse', oldid: revision, prop: 'text', disablelimitreport: true, useskin: mw.config.get( 'skin' )
	} ).then( ( { parse } ) => {
		mw.config.set( { wgCurRevisionId: revision, wgRevisionId: revision } );
		const $content = $( '#mw-content-text' );
		// The wiki's own page, as it would come with the next view.
		$content.children( '.mw-parser-output' ).first().replaceWith( parse.text );
		mw.hook( 'wikipage.content' ).fire( $content );
	}, () => location.reload() );
}

module.exports = { fetchBase, openEditor, renew, save };
