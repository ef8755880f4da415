// SPDX-License-Identifier: MIT
/**
 * The text that is repaired: that of the editor which is open, a whole page's or a section's, else that of the page.
 */
'use strict';

const wiki = require( './repair-wiki.js' );

/**
 * The field of the wiki's editor, with whatever stands in for it; VisualEditor's source mode is one, too.
 *
 * @return {Weboid.RepairSource|null}
 */
function field() {
	const element = document.querySelector( 'textarea#wpTextbox1' );
	const using = () => Promise.resolve( mw.loader.using( 'jquery.textSelection' ) );
	return element && {
		canSave: false,
		isField: true,
		read: () => using().then( () => $( element ).textSelection( 'getContents' ) ),
		apply: ( text, summary ) => using().then( () => {
			$( element ).textSelection( 'setContents', text );
			addSummary( summary );
		} )
	};
}

/**
 * Adds to the summary that the editor has: of a section, that names it.
 *
 * @param {string} summary
 */
function addSummary( summary ) {
	const line = /** @type {HTMLInputElement|null} */ ( document.querySelector( 'input#wpSummary' ) );
	const target = visualEditor();
	if ( line && !line.value.includes( summary ) ) {
		line.value = line.value.trim() ? `${ line.value.trim() } ${ summary }` : summary;
		$( line ).trigger( 'change' );
	} else if ( target ) {
		target.initialEditSummary = summary;
	}
}

/**
 * @return {any} VisualEditor's target, if it is open
 */
function visualEditor() {
	const { init } = /** @type {any} */ ( window ).ve || {};
	return init && init.target && init.target.active && init.target.getSurface() ? init.target : null;
}

/**
 * VisualEditor, whose document becomes wikitext, and goes on in the wiki's editor for wikitext.
 *
 * @return {Weboid.RepairSource|null}
 */
function visual() {
	const target = visualEditor();
	return target && {
		canSave: false,
		isField: false,
		read: () => Promise.resolve( target.getWikitextFragment( target.getSurface().getModel().getDocument(), true ) ),
		apply: ( text, summary ) => {
			// Nothing is lost by leaving: the text goes along.
			$( window ).off( 'beforeunload' );
			window.onbeforeunload = null;
			target.submitWithSaveFields( { wpSummary: summary, wpDiff: '1' }, text );
		}
	};
}

/**
 * The page as it is on the wiki; its text is read by the service.
 *
 * @return {Weboid.RepairSource}
 */
function page() {
	return {
		canSave: true,
		isField: false,
		read: () => Promise.resolve( null ),
		apply: wiki.openEditor
	};
}

/**
 * @return {Weboid.RepairSource}
 */
function findSource() {
	return field() || visual() || page();
}

module.exports = { findSource };
