// SPDX-License-Identifier: MIT
/**
 * Dialogs: the browser's own, with the colours and shapes of Codex. Codex' styles would be 11.9 KB more (1.43, gzipped)
 * with the first dialog, and another look where the wiki has none.
 */
'use strict';

const { elements: { create } } = require( 'ext.gadget.weboid-marks' );

/**
 * Shows a dialog in the reader's language, which keeps the focus until it is closed, and goes then.
 *
 * @param {string} className
 * @param {string} heading
 * @param {...(HTMLElement|null)} children
 * @return {HTMLDialogElement}
 */
function showDialog( className, heading, ...children ) {
	const title = create( 'h2', 'weboid-title', heading );
	title.id = 'weboid-dialog-title';
	const dialog = /** @type {HTMLDialogElement} */ ( create( 'dialog', `weboid-settings ${ className }`, title, ...children ) );
	dialog.lang = mw.config.get( 'wgUserLanguage' );
	dialog.dir = document.documentElement.dir;
	dialog.setAttribute( 'aria-labelledby', title.id );
	dialog.addEventListener( 'close', () => dialog.remove() );
	document.body.append( dialog );
	dialog.showModal();
	return dialog;
}

/**
 * Closes the dialog that holds the pressed button.
 *
 * @param {Event} event
 */
function closeDialog( { currentTarget } ) {
	const inside = /** @type {Element} */ ( currentTarget );
	/** @type {HTMLDialogElement} */ ( inside.closest( 'dialog' ) ).close();
}

module.exports = { closeDialog, showDialog };
