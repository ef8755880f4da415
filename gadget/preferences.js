// SPDX-License-Identifier: MIT
/**
 * What this reader wants to see: kept with the account, or in the browser of a reader without one.
 */
'use strict';

const OPTION = 'userjs-weboid';
const STORAGE_KEY = 'weboid-preferences';

/** @type {Weboid.Preferences} */
const DEFAULTS = {
	dead: true,
	doubtful: true,
	repaired: false,
	files: true,
	summary: false,
	direct: false,
	always: false,
	namespaces: 'content',
	cards: 'findings'
};

/**
 * What each preference may be.
 *
 * @type {Object<string,any[]>}
 */
const CHOICES = {
	dead: [ true, false ],
	doubtful: [ true, false ],
	repaired: [ true, false ],
	files: [ true, false ],
	summary: [ true, false ],
	direct: [ true, false ],
	always: [ true, false ],
	namespaces: [ 'content', 'all' ],
	cards: [ 'findings', 'all' ]
};

/**
 * What was kept when it was last read. Every mark asks: reading it each time would parse it each time.
 *
 * @type {Weboid.Preferences|null}
 */
let current = null;

/**
 * @return {boolean} whether there is an account that keeps preferences; temporary ones do not
 */
function hasAccount() {
	return mw.config.get( 'wgUserName' ) !== null && !mw.config.get( 'wgUserIsTemp' );
}

/**
 * @return {Object<string,any>} what was kept, if it is anything
 */
function kept() {
	try {
		const found = hasAccount() ?
			JSON.parse( mw.user.options.get( OPTION ) || 'null' ) :
			mw.storage.getObject( STORAGE_KEY );
		return found && typeof found === 'object' ? found : {};
	} catch ( error ) {
		return {};
	}
}

/**
 * @return {Weboid.Preferences} with defaults for all that was not kept, or makes no sense
 */
function read() {
	const found = kept();
	/** @type {any} */
	const preferences = Object.assign( {}, DEFAULTS );
	Object.keys( CHOICES ).forEach( ( name ) => {
		if ( CHOICES[ name ].includes( found[ name ] ) ) {
			preferences[ name ] = found[ name ];
		}
	} );
	return Object.freeze( preferences );
}

/**
 * @return {Weboid.Preferences} as they were when this view first asked, or last changed them; what
 *  is changed in another tab holds from the next view on
 */
function get() {
	current = current || read();
	return current;
}

/**
 * @param {Weboid.Preferences} preferences
 * @return {Promise<void>} rejected if they could not be kept
 */
function set( preferences ) {
	return keep( preferences ).then( () => {
		current = null;
	} );
}

/**
 * @param {Weboid.Preferences} preferences
 * @return {Promise<void>} rejected if they could not be kept
 */
function keep( preferences ) {
	if ( !hasAccount() ) {
		return mw.storage.setObject( STORAGE_KEY, preferences ) ?
			Promise.resolve() :
			Promise.reject( new Error( 'The browser keeps nothing.' ) );
	}
	const text = JSON.stringify( preferences );
	return Promise.resolve( mw.loader.using( 'mediawiki.api' ) )
		.then( () => new mw.Api().saveOption( OPTION, text ) )
		.then( () => {
			mw.user.options.set( OPTION, text );
		} );
}

module.exports = { get, read, set };
