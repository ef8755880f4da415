// SPDX-License-Identifier: MIT
/**
 * Asks the service once what it knows of the links of a page (docs/api.md).
 *
 * One law: whatever comes, or does not come, the page stays as it is; a failure is one line on the console.
 */
'use strict';

const { usePart } = require( 'ext.gadget.weboid' );
const config = require( './config.json' );

const VERSION = 2;
const TIMEOUT_MS = 15000;
const MOST_PARTS = 25;
/** Far more than 2,000 links take: what is longer would keep the page waiting while it is parsed. */
const MOST_BYTES = 8388608;

/** Where this tab notes until when the service is left alone, in milliseconds since 1970. */
const QUIET_KEY = 'weboid-quiet-until';
const QUIET_S = 300;
const MOST_QUIET_S = 3600;

const VERDICTS = [ 'working', 'doubtful', 'dead', 'unknown', 'invalid', 'spam' ];

/** @type {Weboid.KnownLinks} */
const NOTHING = { page: null, links: [], day: '' };

/** No answer, or none that can be used. */
class ServiceError extends Error {
	/**
	 * @param {string} message
	 * @param {number} quiet for how many seconds the service is to be left alone
	 */
	constructor( message, quiet ) {
		super( message );
		this.quiet = quiet;
	}
}

/**
 * @param {any} value
 * @return {boolean} whether it is an object, and no list
 */
function isObject( value ) {
	return typeof value === 'object' && value !== null && !Array.isArray( value );
}

/**
 * @param {any} value
 * @return {boolean} whether it is null or was not given at all
 */
function isAbsent( value ) {
	return value === null || value === undefined;
}

/**
 * @param {any} value
 * @return {boolean} whether it is a number of links, or was not given
 */
function isCount( value ) {
	return isAbsent( value ) || Number.isSafeInteger( value ) && value >= 0;
}

/**
 * The one page of an answer.
 *
 * @param {any} answer
 * @return {any}
 * @throws {ServiceError} if the answer does not have the form of docs/api.md
 */
function pageOf( answer ) {
	const page = isObject( answer ) && answer.version === VERSION && Array.isArray( answer.pages ) && answer.pages[ 0 ];
	if (
		!isObject( page ) || !isObject( page.counts ) ||
		!VERDICTS.every( ( key ) => isCount( page.counts[ key ] ) ) ||
		!( isAbsent( page.repaired ) || isObject( page.repaired ) &&
			[ 'dead', 'doubtful' ].every( ( key ) => isCount( page.repaired[ key ] ) ) ) ||
		!Array.isArray( page.links ) ||
		!( isAbsent( page.part ) || isObject( page.part ) && typeof page.part.from === 'number' ) ||
		typeof answer.day !== 'string' ||
		!( answer.continue === null || typeof answer.continue === 'string' )
	) {
		throw new ServiceError( 'this is no answer about a page', 0 );
	}
	return page;
}

/**
 * For how long a service that answered with an error is left alone.
 *
 * @param {Response} response
 * @return {number} seconds
 */
function quietAfter( response ) {
	if ( response.status !== 429 && response.status !== 503 ) {
		return 0;
	}
	const wanted = response.headers.get( 'Retry-After' );
	return wanted && /^\d+$/.test( wanted ) ? Math.min( Number( wanted ), MOST_QUIET_S ) : QUIET_S;
}

/**
 * One part of an answer.
 *
 * @param {string} address
 * @param {Weboid.Fetch} fetcher
 * @param {URLSearchParams} [body] of a form
 * @param {number} [timeout] in milliseconds
 * @return {Promise<any>} what the service says, as yet unchecked; undefined if it does not know the page
 */
function requestPart( address, fetcher, body, timeout = TIMEOUT_MS ) {
	const abort = new AbortController();
	const timer = setTimeout( () => abort.abort( new Error( 'it takes too long' ) ), timeout );
	// Without headers of our own the browser needs no permission first (no preflight request).
	// Nor does a redirect take readers to somebody whom the wiki did not choose.
	/** @type {RequestInit} */
	const options = { credentials: 'omit', redirect: 'error', referrerPolicy: 'no-referrer', signal: abort.signal };
	return fetcher( address, body ? Object.assign( options, { method: 'POST', body } ) : options ).then( ( response ) => {
		if ( response.status === 404 && !body ) {
			return undefined;
		}
		if ( !response.ok ) {
			const said = body ? readText( response ) : Promise.reject();
			return said.then( ( text ) => parsed( text ).error.text ).catch( () => null ).then( ( text ) => {
				throw new ServiceError( text || `status ${ response.status }`, quietAfter( response ) );
			} );
		}
		return readText( response );
	} ).then( ( text ) => {
		clearTimeout( timer );
		return text === undefined ? undefined : parsed( text );
	}, ( error ) => {
		clearTimeout( timer );
		abort.abort();
		throw error instanceof ServiceError ? error : new ServiceError( String( error.message ), QUIET_S );
	} );
}

/**
 * The body of a response, of which no more is read than an answer may have.
 *
 * @param {Response} response
 * @return {Promise<string>} rejected with a ServiceError if there is more
 */
function readText( response ) {
	const reader = /** @type {ReadableStream<Uint8Array>} */ ( response.body ).getReader();
	const decoder = new TextDecoder();
	let text = '';
	let bytes = 0;

	/**
	 * @return {Promise<string>}
	 */
	function readOn() {
		return reader.read().then( ( { done, value } ) => {
			if ( done ) {
				return text + decoder.decode();
			}
			bytes += value.length;
			if ( bytes > MOST_BYTES ) {
				throw new ServiceError( 'it is too long', QUIET_S );
			}
			text += decoder.decode( value, { stream: true } );
			return readOn();
		} );
	}

	return readOn();
}

/**
 * @param {string} text
 * @return {any}
 * @throws {ServiceError} if it is not JSON
 */
function parsed( text ) {
	try {
		return JSON.parse( text );
	} catch ( error ) {
		throw new ServiceError( 'this is not JSON', 0 );
	}
}

/**
 * Adds the links of a part; a link that came before, in other forms, becomes one with it.
 *
 * @param {Map<string,any>} links
 * @param {any[]} more
 */
function addLinks( links, more ) {
	for ( const link of more ) {
		const key = link.normal === null ? `given ${ link.given[ 0 ] }` : link.normal;
		const before = links.get( key );
		if ( before ) {
			link.given.forEach( ( /** @type {string} */ given ) => before.given.push( given ) );
			before.interwiki = before.interwiki || link.interwiki;
		} else {
			links.set( key, link );
		}
	}
}

/**
 * All parts of an answer, put together.
 *
 * @param {string} address
 * @param {Weboid.Fetch} fetcher
 * @return {Promise<Weboid.KnownLinks>}
 */
function requestAll( address, fetcher ) {
	/** @type {any} */
	let page = null;
	/** @type {Map<string,any>} */
	let links = new Map();

	/**
	 * @param {string} place where the answer goes on, as a part of the address
	 * @param {number} parts how many parts have come
	 * @return {Promise<any>}
	 */
	function next( place, parts ) {
		return requestPart( address + place, fetcher ).then( ( answer ) => {
			if ( answer === undefined ) {
				return NOTHING;
			}
			const answered = pageOf( answer );
			if ( page && answered.part && answered.part.from > 0 ) {
				for ( const key of VERDICTS ) {
					page.counts[ key ] = ( page.counts[ key ] || 0 ) + ( answered.counts[ key ] || 0 );
				}
			} else {
				// The first part, also of a page that changed between two parts: what came before is void.
				page = answered;
				links = new Map();
			}
			addLinks( links, answered.links );
			return answer.continue === null || parts === MOST_PARTS ?
				{ page, links: Array.from( links.values() ), day: answer.day } :
				next( `&continue=${ encodeURIComponent( answer.continue ) }`, parts + 1 );
		} );
	}

	return next( '', 1 );
}

/**
 * @return {string}
 */
function wikiName() {
	return `${ mw.config.get( 'wgWikiID' ) }@${ config.farm }`;
}

/** @type {Weboid.Fetch} */
const fetchIt = ( address, options ) => window.fetch( address, options );

/**
 * Sends a form about this wiki.
 *
 * @param {string} path
 * @param {Object<string,string>} fields
 * @param {number} timeout in milliseconds
 * @return {Promise<any>} what the service says, as yet unchecked; rejected with its words if it cannot answer
 */
function post( path, fields, timeout ) {
	const body = new URLSearchParams( fields );
	body.set( 'dbname', wikiName() );
	return requestPart( config.service + path, fetchIt, body, timeout );
}

/**
 * Asks what the service knows of the links of a page: one request, and more only for pages of over 2,000 links.
 *
 * Resolves without page and links if the service does not watch the page, cannot be used, or asked to be left alone.
 *
 * @param {{page: number, revision: number, language: string, extent: string}} question
 * @param {Weboid.Fetch} [fetcher]
 * @return {Promise<Weboid.KnownLinks>}
 */
function ask( question, fetcher = fetchIt ) {
	if ( Number( mw.storage.session.get( QUIET_KEY ) ) > Date.now() ) {
		return Promise.resolve( NOTHING );
	}
	const query = new URLSearchParams( {
		dbname: wikiName(),
		pageid: String( question.page ),
		revid: String( question.revision ),
		lang: question.language,
		extent: question.extent
	} );
	// Even a `fetch` that is missing, or that another script has broken, is a failure like others.
	const asked = Promise.resolve().then( () => requestAll( `${ config.service }/api/page?${ query }`, fetcher ) )
		.then( ( known ) => known.links.length ? usePart( 'marks' ).then( ( marks ) => marks.checkedLinks( known ) ) : known );
	return asked.catch( ( error ) => {
		mw.log.warn( `Weboid: ${ config.service } has no answer for this page: ${ error.message }` );
		if ( error.quiet > 0 ) {
			mw.storage.session.set( QUIET_KEY, String( Date.now() + error.quiet * 1000 ) );
		}
		return NOTHING;
	} );
}

module.exports = { ask, post, requestPart };
