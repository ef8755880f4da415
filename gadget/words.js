// SPDX-License-Identifier: MIT
/**
 * Days, files and verdicts in the reader's language.
 */
'use strict';

const { bounded } = require( './elements.js' );

/**
 * Names of the file types of the API that are more than their keyword in capitals.
 *
 * @type {Map<string,string>}
 */
const FILE_TYPES = new Map( [
	[ 'djvu', 'DjVu' ],
	[ 'flash', 'Flash' ],
	[ 'gzip', 'gzip' ],
	[ 'mpeg4', 'MPEG-4' ],
	[ 'msexcel', 'Excel' ],
	[ 'mspowerpoint', 'PowerPoint' ],
	[ 'msword', 'Word' ],
	[ 'ogg', 'Ogg' ],
	[ 'postscript', 'PostScript' ]
] );
const KIB_IN_MIB = 1024;

/** @type {Intl.DateTimeFormat|null|undefined} */
let dayFormat;

/**
 * @return {Intl.DateTimeFormat|null} null where the browser does not know the reader's language
 */
function formatOfDays() {
	if ( dayFormat === undefined ) {
		dayFormat = null;
		try {
			const language = mw.config.get( 'wgUserLanguage' );
			if ( Intl.DateTimeFormat.supportedLocalesOf( language ).length ) {
				dayFormat = new Intl.DateTimeFormat(
					language, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' }
				);
			}
		} catch ( error ) {
			// MediaWiki has codes that are not well-formed for others.
		}
	}
	return dayFormat;
}

/**
 * @param {string} iso a day such as `2026-05-03`
 * @return {string} as the reader's language writes it; unchanged where the browser cannot
 */
function day( iso ) {
	const format = formatOfDays();
	const date = new Date( `${ iso }T00:00:00Z` );
	return format === null || isNaN( date.getTime() ) ? bounded( iso, 40 ) : format.format( date );
}

/**
 * @param {Weboid.Link} link with a notable file type
 * @return {string} the type as people call it
 */
function fileType( link ) {
	const keyword = String( link.mime );
	if ( keyword === 'binary' ) {
		return mw.msg( 'weboid-gadget-file-binary' );
	}
	return FILE_TYPES.get( keyword ) || bounded( keyword, 20 ).toUpperCase();
}

/**
 * @param {Weboid.Link} link with a notable file type
 * @return {string} its type, and its size if that is known: `PDF, 2 MB`
 */
function file( link ) {
	const kib = Number( link.size_kib );
	if ( !( kib > 0 ) ) {
		return fileType( link );
	}
	const size = kib < KIB_IN_MIB ?
		mw.msg( 'weboid-gadget-size-kb', number( kib ) ) :
		mw.msg( 'weboid-gadget-size-mb', number( rounded( kib / KIB_IN_MIB ) ) );
	// Isolated, so that the number does not join the Latin letters where text runs from the right.
	return mw.msg( 'weboid-gadget-file', `\u2068${ fileType( link ) }\u2069`, size );
}

/**
 * @param {number} value
 * @return {number} with one decimal place below ten
 */
function rounded( value ) {
	return value < 10 ? Math.round( value * 10 ) / 10 : Math.round( value );
}

/**
 * @param {number} value
 * @return {string} with the digits and signs of the reader's language
 */
function number( value ) {
	return String( mw.language.convertNumber( value ) );
}

/**
 * @param {Weboid.Link} link
 * @return {boolean} whether it was not checked, and probably leads nowhere all the same
 */
function isHinted( link ) {
	// What only needs the other scheme works.
	return link.verdict === 'unknown' &&
		( link.hints || [] ).some( ( { kind } ) => !/needs/.test( kind ) );
}

/**
 * @param {Weboid.Link} link
 * @return {string} its verdict as a heading, and since when
 */
function verdict( link ) {
	const since = link.since ? day( link.since ) : null;
	switch ( link.verdict ) {
		case 'dead':
			return since === null ? mw.msg( 'weboid-gadget-dead' ) : mw.msg( 'weboid-gadget-dead-since', since );
		case 'doubtful':
			return since === null ? mw.msg( 'weboid-gadget-doubtful' ) : mw.msg( 'weboid-gadget-doubtful-since', since );
		case 'working':
			return mw.msg( 'weboid-gadget-working' );
		case 'invalid':
			return mw.msg( 'weboid-gadget-invalid' );
		case 'spam':
			return mw.msg( 'weboid-gadget-spam' );
		default:
			if ( since !== null ) {
				return mw.msg( 'weboid-gadget-temporary-since', since );
			}
			return isHinted( link ) ? mw.msg( 'weboid-gadget-hinted' ) : mw.msg( 'weboid-gadget-unknown' );
	}
}

module.exports = { day, file, fileType, isHinted, number, verdict };
