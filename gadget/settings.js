// SPDX-License-Identifier: MIT
/**
 * The dialog in which readers choose what they want to see.
 */
'use strict';

const { config, preferences } = require( 'ext.gadget.weboid-page' );
const { elements: { button, create } } = require( 'ext.gadget.weboid-marks' );
const { closeDialog, showDialog } = require( './dialog.js' );

/**
 * @param {HTMLFormElement} form
 * @return {Weboid.Preferences} what is chosen there
 */
function chosen( form ) {
	const data = new FormData( form );
	const isOn = ( /** @type {string} */ name ) => data.has( name );
	return {
		dead: isOn( 'dead' ),
		doubtful: isOn( 'doubtful' ),
		repaired: isOn( 'repaired' ),
		files: isOn( 'files' ),
		summary: isOn( 'summary' ),
		direct: isOn( 'direct' ),
		always: config.consent ? isOn( 'always' ) : preferences.read().always,
		namespaces: data.get( 'namespaces' ) === 'all' ? 'all' : 'content',
		cards: data.get( 'cards' ) === 'all' ? 'all' : 'findings'
	};
}

/**
 * A box to tick, or one choice of several.
 *
 * @param {string} type `checkbox` or `radio`
 * @param {string} name
 * @param {string} value
 * @param {boolean} isChecked
 * @param {string} text
 * @return {HTMLElement}
 */
function choice( type, name, value, isChecked, text ) {
	const input = /** @type {HTMLInputElement} */ ( create( 'input', '' ) );
	input.type = type;
	input.name = name;
	input.value = value;
	input.checked = isChecked;
	return create( 'label', 'weboid-choice', input, create( 'span', '', text ) );
}

/**
 * @param {string} legend
 * @param {...HTMLElement} choices
 * @return {HTMLElement}
 */
function group( legend, ...choices ) {
	return create( 'fieldset', 'weboid-group', create( 'legend', '', legend ), ...choices );
}

/**
 * @param {Weboid.Preferences} now
 * @return {HTMLElement[]} the choices, as they are made now
 */
function groups( now ) {
	const box = (
		/** @type {'dead'|'doubtful'|'repaired'|'files'|'summary'|'direct'|'always'} */ name, /** @type {string} */ text
	) => choice( 'checkbox', name, '1', now[ name ], text );
	const radio = (
		/** @type {'namespaces'|'cards'} */ name, /** @type {string} */ value, /** @type {string} */ text
	) => choice( 'radio', name, value, now[ name ] === value, text );
	return [
		group(
			mw.msg( 'weboid-gadget-settings-show' ),
			box( 'dead', mw.msg( 'weboid-gadget-settings-dead' ) ),
			box( 'doubtful', mw.msg( 'weboid-gadget-settings-doubtful' ) ),
			box( 'repaired', mw.msg( 'weboid-gadget-settings-repaired' ) ),
			box( 'files', mw.msg( 'weboid-gadget-settings-files' ) ),
			box( 'summary', mw.msg( 'weboid-gadget-settings-summary' ) )
		),
		group(
			mw.msg( 'weboid-gadget-settings-cards' ),
			radio( 'cards', 'findings', mw.msg( 'weboid-gadget-settings-cards-findings' ) ),
			radio( 'cards', 'all', mw.msg( 'weboid-gadget-settings-cards-all' ) )
		),
		group(
			mw.msg( 'weboid-gadget-settings-namespaces' ),
			radio( 'namespaces', 'content', mw.msg( 'weboid-gadget-settings-namespaces-content' ) ),
			radio( 'namespaces', 'all', mw.msg( 'weboid-gadget-settings-namespaces-all' ) )
		),
		group( mw.msg( 'weboid-gadget-settings-repairs' ), box( 'direct', mw.msg( 'weboid-gadget-settings-direct' ) ) ),
		...( config.consent ? [ group(
			mw.msg( 'weboid-gadget-settings-consent' ), box( 'always', mw.msg( 'weboid-gadget-settings-always' ) )
		) ] : [] )
	];
}

/**
 * Lets the reader choose, in a dialog that keeps the focus until it is closed.
 */
function open() {
	const error = create( 'p', 'weboid-error' );
	error.setAttribute( 'role', 'alert' );
	const cancel = button( 'weboid-button', mw.msg( 'weboid-gadget-settings-cancel' ), closeDialog );
	const save = /** @type {HTMLButtonElement} */ ( create(
		'button', 'weboid-button weboid-button-primary', mw.msg( 'weboid-gadget-settings-save' )
	) );
	const form = /** @type {HTMLFormElement} */ ( create(
		'form', '',
		// Read anew: saving all of them must not undo what another tab has changed.
		...groups( preferences.read() ),
		create( 'p', 'weboid-subtle', mw.msg( 'weboid-gadget-settings-when' ) ),
		error,
		create( 'div', 'weboid-buttons', cancel, save )
	) );
	const dialog = showDialog( '', mw.msg( 'weboid-gadget-settings-title' ), form );
	form.addEventListener( 'submit', ( event ) => {
		event.preventDefault();
		error.textContent = '';
		save.disabled = true;
		preferences.set( chosen( form ) ).then( () => dialog.close(), () => {
			save.disabled = false;
			error.textContent = mw.msg( 'weboid-gadget-settings-failed' );
		} );
	} );
}

module.exports = { open };
