// SPDX-License-Identifier: MIT
/**
 * For those who may edit the page: the wiki's own templates for a dead link to be copied, and the editor opened at the
 * section where the link stands, with its URL selected there. Nothing is ever changed in a text.
 */
'use strict';

const { normalForm } = require( 'ext.gadget.weboid-marks' );

/** Where this tab notes which URL is to be selected in the editor that it opens. */
const SELECTION_KEY = 'weboid-selection';
const SELECTION_S = 600;
const URL_IN_WIKITEXT = /(?:[a-z][a-z0-9+.-]*:)?\/\/[^\s<>[\]|{}"]+/gi;
const MOST_URLS = 5000;

/**
 * @return {boolean} whether the page may be edited by its reader, anonymous or not
 */
function isEditor() {
	return mw.config.get( 'wgIsProbablyEditable' ) === true;
}

/**
 * What can be copied into the page's wikitext: each with a word for what it is.
 *
 * @param {Weboid.Link} link
 * @return {Array<{kind: string, text: string}>} `kind` is `template`, `parameters` or `dead`
 */
function copies( link ) {
	const texts = /** @type {Object<string,any>} */ ( link.wikitext || {} );
	return [ 'template', 'parameters', 'dead' ]
		.filter( ( kind ) => typeof texts[ kind ] === 'string' && texts[ kind ] )
		.map( ( kind ) => ( { kind, text: texts[ kind ] } ) );
}

/**
 * Puts text on the clipboard.
 *
 * @param {string} text
 * @return {Promise<boolean>} whether it is there
 */
function copyText( text ) {
	// Only pages that came over https have navigator.clipboard.
	const written = navigator.clipboard ? navigator.clipboard.writeText( text ) : Promise.reject( new Error() );
	return written.then( () => true, () => copyBySelection( text ) );
}

/**
 * @param {string} text
 * @return {boolean} whether it is on the clipboard
 */
function copyBySelection( text ) {
	const focused = /** @type {HTMLElement|null} */ ( document.activeElement );
	const field = document.createElement( 'textarea' );
	field.className = 'weboid-clipboard';
	field.readOnly = true;
	field.value = text;
	// Next to what has the focus: a dialog may keep it within itself.
	( focused && focused.parentElement || document.body ).appendChild( field );
	field.select();
	const isCopied = document.execCommand( 'copy' );
	field.remove();
	if ( focused ) {
		focused.focus();
	}
	return isCopied;
}

/**
 * Where the text of an element stands: of a reference, where the page cites it.
 *
 * @param {Element} element
 * @return {Element}
 */
function placeOf( element ) {
	const reference = element.closest( 'ol.references > li' );
	const backlink = reference && reference.querySelector( '.mw-cite-backlink a, a[rel~="mw:referencedBy"], [rel~="mw:referencedBy"] a' );
	const target = backlink && ( backlink.getAttribute( 'href' ) || '' ).split( '#' )[ 1 ];
	return target && document.getElementById( decodedFragment( target ) ) || element;
}

/**
 * @param {string} fragment
 * @return {string}
 */
function decodedFragment( fragment ) {
	try {
		return decodeURIComponent( fragment );
	} catch ( error ) {
		return fragment;
	}
}

/**
 * The section of the page that a link of a heading edits.
 *
 * @param {HTMLAnchorElement} link
 * @return {string|null} null if it opens another editor, or a template in which the heading stands
 */
function sectionOf( link ) {
	// Not `new URL`, which throws: articles may have links of any form that look like those of headings.
	const query = new URLSearchParams( link.search );
	const section = query.get( 'section' );
	return query.get( 'action' ) === 'edit' && section && /^\d+$/.test( section ) ? section : null;
}

/**
 * The address at which the text around an element is edited.
 *
 * @param {Element} element of the page's content
 * @return {string|null} null if the page may not be edited, is open in the editor already, or is an old revision
 */
function editAddress( element ) {
	if (
		!isEditor() || mw.config.get( 'wgAction' ) !== 'view' ||
		mw.config.get( 'wgRevisionId' ) !== mw.config.get( 'wgCurRevisionId' )
	) {
		return null;
	}
	const place = placeOf( element );
	const root = place.closest( '.mw-parser-output' );
	const headings = Array.from( root ? root.querySelectorAll( '.mw-heading, h2, h3, h4, h5, h6' ) : [] )
		.filter( ( heading ) => heading.compareDocumentPosition( place ) & Node.DOCUMENT_POSITION_FOLLOWING );
	/** @type {NodeListOf<HTMLAnchorElement>|never[]} */
	const links = root ? root.querySelectorAll( '.mw-editsection a[href]' ) : [];
	const sections = Array.from( links )
		.filter( ( link ) => link.compareDocumentPosition( place ) & Node.DOCUMENT_POSITION_FOLLOWING )
		.map( sectionOf )
		.filter( ( section ) => section !== null );
	const page = mw.config.get( 'wgPageName' );
	if ( sections.length ) {
		return mw.util.getUrl( page, { action: 'edit', section: sections[ sections.length - 1 ] } );
	}
	return mw.util.getUrl( page, headings.length ? { action: 'edit' } : { action: 'edit', section: '0' } );
}

/**
 * Lets the editor that is opened next select a link's URL in the text.
 *
 * @param {Weboid.Link} link
 */
function rememberSelection( link ) {
	mw.storage.session.setObject( SELECTION_KEY, {
		page: mw.config.get( 'wgArticleId' ),
		given: link.given,
		normal: link.normal,
		interwiki: link.interwiki
	}, SELECTION_S );
}

/**
 * Selects the remembered URL in the text that is open in the editor, if it is there.
 */
function selectRemembered() {
	const wanted = mw.storage.session.getObject( SELECTION_KEY );
	// A preview may have other elements with this id.
	const field = /** @type {HTMLTextAreaElement|null} */ ( document.querySelector( 'textarea#wpTextbox1' ) );
	if ( !wanted || !field || wanted.page !== mw.config.get( 'wgArticleId' ) ) {
		return;
	}
	mw.storage.session.remove( SELECTION_KEY );
	const $field = $( field );
	// Whatever stands in for the field (with colours of syntax, for instance) takes these commands, too.
	const text = $field.textSelection( 'getContents' );
	const place = findLink( text, wanted );
	if ( place ) {
		$field.trigger( 'focus' );
		$field.textSelection( 'setSelection', place ).textSelection( 'scrollToCaretPosition' );
	}
}

/**
 * Where a link stands in a wikitext: in a form that the wiki gave, else in any other form of the same URL.
 *
 * @param {string} text
 * @param {{given: string[], normal: string|null, interwiki: {prefix: string, title: string}|null}} link
 * @return {{start: number, end: number}|null}
 */
function findLink( text, link ) {
	for ( const given of link.given ) {
		// Not where it is only the beginning of a longer one.
		for ( let start = text.indexOf( given ); start >= 0; start = text.indexOf( given, start + 1 ) ) {
			const end = start + given.length;
			if ( !/^[^\s<>[\]|{}"]/.test( text.slice( end ) ) ) {
				return { start, end };
			}
		}
	}
	return findNormal( text, link.normal ) || findInterwiki( text, link.interwiki );
}

/**
 * @param {string} text
 * @param {string|null} normal
 * @return {{start: number, end: number}|null}
 */
function findNormal( text, normal ) {
	if ( normal === null ) {
		return null;
	}
	URL_IN_WIKITEXT.lastIndex = 0;
	for ( let count = 0; count < MOST_URLS; count++ ) {
		const found = URL_IN_WIKITEXT.exec( text );
		if ( !found ) {
			break;
		}
		// A bare URL ends before the punctuation of its sentence.
		const forms = [ found[ 0 ], found[ 0 ].replace( /[,;.:!?'()]+$/, '' ) ];
		const form = forms.find(
			( each ) => normalForm( each.replace( /^\/\//, 'https://' ).replace( /&amp;/g, '&' ) ) === normal
		);
		if ( form ) {
			return { start: found.index, end: found.index + form.length };
		}
	}
	return null;
}

/**
 * @param {string} text
 * @param {{prefix: string, title: string}|null} interwiki
 * @return {{start: number, end: number}|null}
 */
function findInterwiki( text, interwiki ) {
	if ( !interwiki ) {
		return null;
	}
	const words = `${ interwiki.prefix }:${ interwiki.title }`.split( /[ _]+/ ).map( mw.util.escapeRegExp );
	const found = new RegExp( `\\[\\[:?(${ words.join( '[ _]+' ) })`, 'i' ).exec( text );
	const end = found ? found.index + found[ 0 ].length : 0;
	return found && { start: end - found[ 1 ].length, end };
}

module.exports = { isEditor, copies, copyText, editAddress, rememberSelection, selectRemembered };
