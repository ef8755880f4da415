// SPDX-License-Identifier: MIT
/**
 * The normal form of a URL, version 1, as docs/normal-form.md has it rule by rule.
 *
 * The same is computed by weboid/core/url/{urls,hosts}.py. Both are held to tests/vectors/urls.json
 * and to each other: a change of one is a change of both. The browser's own `URL` is only asked
 * what Unicode names and IPv6 literals are in ASCII; paths, ports and IPv4 addresses it would
 * change in ways in which neither wikis nor Weboid do. Other programs ask the service for forms;
 * readers of long articles would wait for a second request.
 */
'use strict';

/** Code points of a URL, as given and in normal form. */
const MAX_URL = 8000;
const MAX_HOST = 253;
/** Of a host as written: three escaped bytes for each character of a name. */
const MAX_RAW_HOST = 9 * MAX_HOST;

/** By scheme: the port that is never written. */
const DEFAULT_PORTS = new Map( [
	[ 'http', 80 ], [ 'https', 443 ], [ 'ftp', 21 ], [ 'ftps', 990 ], [ 'sftp', 22 ]
] );

/** Scheme, authority, path and query of a URL that names a resource. */
const RESOURCE = /^(?:(https?|ftps?|sftp):)?\/\/([^/?#]*)([^?#]*)(\?[^#]*)?/i;
const PORT = /^0*([0-9]{1,5})$/;

/** What percent-encoding may change. */
const ODD = new RegExp( [
	// A bare % that would begin an escape once the next two characters are decoded (%%34%31 → %41):
	// it stays, else a second pass would decode further than the first.
	'%(?![0-9A-Fa-f]{2})(?:[0-9A-Fa-f]|%(?:3[0-9]|[46][1-6])){2}',
	'%([0-9A-Fa-f]{2})',
	'[\\0- "<>[\\\\\\]^`{|}\\x7f-\\uffff]+'
].join( '|' ), 'g' );
const UNPAIRED_SURROGATE = /[\ud800-\udfff]/gu;
/** What stays encoded, as in MediaWiki's table `externallinks`. */
const ENCODED_IN_PATH = '"#%<>[\\]^`{|}/?';
const ENCODED_IN_QUERY = '"#%<>[\\]^`{|}&=+;';

/**
 * White space and what nobody sees, as weboid/core/url/hosts.py lists it. The joiners U+200C and
 * U+200D are left to UTS 46, and variation selectors are allowed, for emoji.
 */
const INVISIBLE = new RegExp( '[' + [
	'\\u034f\\u17b4\\u17b5\\u180b-\\u180f\\0- \\x7f-\\xa0\\xad\\u061c\\u115f\\u1160\\u1680',
	'\\u2000-\\u200b\\u200e\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u2800\\u3000\\u3164\\ufeff',
	'\\uffa0\\ufff9-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e00ff}'
].join( '' ) + ']', 'u' );
const ESCAPES = /(?:%[0-9A-Fa-f]{2})+/g;
const BEYOND_ASCII = /[^\0-\x7f]/;
/** No ASCII but what names are made of, so that nothing ends the host or is decoded once more. */
const NAME_TO_MAP = /^[A-Za-z0-9._\-\x80-\uffff]*$/;
const NAME = /^(?:[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])$/;
const NUMBER = /^(?:[0-9]+|0x[0-9a-f]*)$/;
const IPV4 = /^(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\.(?!$)|$)){4}$/;
const IPV6_LITERAL = /^\[[0-9A-Fa-f:.]+\]$/;

/**
 * @param {string} text
 * @return {boolean}
 */
function isTooLong( text ) {
	return text.length > MAX_URL &&
		( text.length > 2 * MAX_URL || Array.from( text ).length > MAX_URL );
}

/**
 * @param {string} url
 * @return {string} without ASCII controls and spaces around it
 */
function stripped( url ) {
	let start = 0;
	let end = url.length;
	while ( start < end && url[ start ] <= ' ' ) {
		start++;
	}
	while ( end > start && url[ end - 1 ] <= ' ' ) {
		end--;
	}
	return url.slice( start, end );
}

/**
 * @param {string} text part of an authority
 * @return {string|null} percent-decoded as UTF-8; null if it has white space or something invisible
 */
function visible( text ) {
	const decoded = text.replace( ESCAPES, ( escapes ) => {
		const bytes = escapes.slice( 1 ).split( '%' ).map( ( byte ) => parseInt( byte, 16 ) );
		return new TextDecoder( 'utf-8', { ignoreBOM: true } ).decode( new Uint8Array( bytes ) );
	} );
	return INVISIBLE.test( decoded ) ? null : decoded;
}

/**
 * @param {string} authority a host that the browser may read as it reads those of `http`
 * @return {string} what it makes of it; empty if it refuses it
 */
function browserHost( authority ) {
	try {
		return new URL( `http://${ authority }/` ).hostname;
	} catch ( error ) {
		return '';
	}
}

/**
 * @param {string} name with characters beyond ASCII
 * @return {string} in punycode by UTS 46, non-transitional; empty if that refuses it
 */
function punycode( name ) {
	// By compatibility forms (D-204), since UTS 46 makes a % of a full-width one, too. Below a last label
	// of our own no browser takes the name for an IPv4 address, of which it would allow odd forms.
	return NAME_TO_MAP.test( name.normalize( 'NFKC' ) ) ?
		browserHost( `${ name }.x` ).replace( /\.x$/, '' ) :
		'';
}

/**
 * @param {string} raw a host as written in a URL
 * @return {string|null} its normal form; null if it is invalid
 */
function hostForm( raw ) {
	if ( raw.startsWith( '[' ) ) {
		return IPV6_LITERAL.test( raw ) && browserHost( raw ) || null;
	}
	const text = raw.length > MAX_RAW_HOST ? null : visible( raw );
	if ( text === null ) {
		return null;
	}
	const host = ( BEYOND_ASCII.test( text ) ? punycode( text ) : text.toLowerCase() ).replace( /\.$/, '' );
	if ( NUMBER.test( host.slice( host.lastIndexOf( '.' ) + 1 ) ) ) {
		return IPV4.test( host ) ? host : null;
	}
	return host.length <= MAX_HOST && NAME.test( host ) ? host : null;
}

/**
 * @param {string} authority user, host and port
 * @param {string} scheme
 * @return {string|null} host and port in normal form; null if one of them is invalid
 */
function authorityForm( authority, scheme ) {
	const at = authority.lastIndexOf( '@' );
	if ( at >= 0 && visible( authority.slice( 0, at ) ) === null ) {
		return null;
	}
	const hostAndPort = authority.slice( at + 1 );
	const colon = hostAndPort.indexOf( ':', hostAndPort.startsWith( '[' ) ? hostAndPort.indexOf( ']' ) : 0 );
	const host = hostForm( colon < 0 ? hostAndPort : hostAndPort.slice( 0, colon ) );
	const port = colon < 0 ? '' : hostAndPort.slice( colon + 1 );
	if ( host === null || !port ) {
		return host;
	}
	const digits = PORT.exec( port );
	const number = digits ? Number( digits[ 1 ] ) : 0;
	if ( number < 1 || number > 65535 ) {
		return null;
	}
	return number === DEFAULT_PORTS.get( scheme ) ? host : `${ host }:${ number }`;
}

/**
 * @param {string} text a path, or a query with its question mark
 * @param {string} encoded the visible characters of ASCII that stay encoded
 * @return {string} with canonical percent-encoding, by MediaWiki's rules
 */
function percentEncoded( text, encoded ) {
	return text.replace( ODD, ( odd, hex ) => {
		if ( hex ) {
			const character = String.fromCharCode( parseInt( hex, 16 ) );
			const isVisible = character > ' ' && character < '\x7f';
			return isVisible && !encoded.includes( character ) ? character : odd.toUpperCase();
		}
		return odd.startsWith( '%' ) ? odd : encodeURIComponent( odd.replace( UNPAIRED_SURROGATE, '\ufffd' ) );
	} );
}

/**
 * @param {string} path
 * @return {string} without `.` and `..` segments (RFC 3986, 5.2.4)
 */
function withoutDots( path ) {
	if ( !path.includes( '/.' ) ) {
		return path;
	}
	/** @type {string[]} */
	const kept = [];
	const segments = path.split( '/' ).slice( 1 );
	for ( const segment of segments ) {
		if ( segment === '..' ) {
			kept.pop();
		} else if ( segment !== '.' ) {
			kept.push( segment );
		}
	}
	const last = segments[ segments.length - 1 ];
	if ( last === '.' || last === '..' ) {
		kept.push( '' );
	}
	return `/${ kept.join( '/' ) }`;
}

/**
 * The normal form of a URL. Never throws.
 *
 * @param {string} url as somebody wrote it; may be anything
 * @return {string|null} null if it is no resource that could be requested, or invalid
 */
function normalForm( url ) {
	const text = stripped( url );
	const parts = isTooLong( text ) ? null : RESOURCE.exec( text );
	if ( !parts ) {
		return null;
	}
	const [ , given, authority, path, query ] = parts;
	const scheme = given ? given.toLowerCase() : 'https';
	const host = authorityForm( authority, scheme );
	if ( host === null ) {
		return null;
	}
	const form = `${ scheme }://${ host }` +
		withoutDots( percentEncoded( path || '/', ENCODED_IN_PATH ) ) +
		percentEncoded( query || '', ENCODED_IN_QUERY );
	return isTooLong( form ) ? null : form;
}

module.exports = { normalForm };
