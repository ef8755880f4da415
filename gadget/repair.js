// SPDX-License-Identifier: MIT
/**
 * Repairs dead links where they are read: what the service proposes for the text that is there, the reader's choice for
 * each link, and then the wiki's own editor, or by preference the saved page (G-6). The service saves nothing.
 */
'use strict';

const { preferences, service } = require( 'ext.gadget.weboid-page' );
const { normalForm } = require( 'ext.gadget.weboid-marks' );
const { createDialog } = require( './repair-dialog.js' );
const { checked } = require( './repair-answer.js' );
const { findSource } = require( './repair-source.js' );
const wiki = require( './repair-wiki.js' );

const TIMEOUT_MS = 40000;

/**
 * One repair, from the first question to the saved text.
 */
class Repair {
	/**
	 * @param {Weboid.Link|null} link the only one that is repaired; null for all
	 */
	constructor( link ) {
		this.link = link;
		this.source = findSource();
		/** @type {Weboid.BaseRevision|null} */
		this.base = null;
		/** @type {string|null} null: the service reads the text of the revision */
		this.text = null;
		/** @type {Object<string,string>} by URL: `leave`, `tag`, or the address of a copy */
		this.choices = {};
		/** @type {Weboid.RepairAnswer|null} */
		this.answer = null;
		/** How many questions were asked: only the last one's answer counts. */
		this.asked = 0;
		this.dialog = createDialog( {
			canSave: this.source.canSave && preferences.get().direct,
			isField: this.source.isField,
			onChoose: ( url, choice ) => this.choose( url, choice ),
			onApply: ( summary ) => this.apply( summary ),
			onSave: ( form ) => this.save( form )
		} );
	}

	/**
	 * Reads the text, and asks what is to be repaired in it.
	 *
	 * @return {Promise<void>}
	 */
	begin() {
		return this.guarded( () => Promise.all( [ wiki.fetchBase(), this.source.read() ] ).then( ( [ base, text ] ) => {
			this.base = this.source.canSave ? base : Object.assign( base, { revision: mw.config.get( 'wgCurRevisionId' ) } );
			this.text = text;
			return this.propose();
		} ) );
	}

	/**
	 * Asks for the repair of all links; of a single link's, all others are left from then on.
	 *
	 * @return {Promise<void>}
	 */
	propose() {
		return this.ask().then( ( answer ) => {
			const isMeant = ( /** @type {Weboid.RepairChange} */ change ) => this.link === null ||
				this.link.given.includes( change.url ) || normalForm( change.url ) === this.link.normal;
			const meant = answer.changes.filter( isMeant );
			this.dialog.offer( meant );
			if ( meant.length === answer.changes.length ) {
				return this.show( answer );
			}
			answer.changes.filter( ( change ) => !isMeant( change ) ).forEach( ( { url } ) => {
				this.choices[ url ] = 'leave';
			} );
			return this.ask().then( ( narrowed ) => this.show( narrowed ) );
		} );
	}

	/**
	 * @return {Promise<Weboid.RepairAnswer>}
	 */
	ask() {
		const base = /** @type {Weboid.BaseRevision} */ ( this.base );
		/** @type {Object<string,string>} */
		const fields = {
			pageid: String( mw.config.get( 'wgArticleId' ) ),
			revid: String( base.revision ),
			lang: mw.config.get( 'wgUserLanguage' ),
			choices: JSON.stringify( this.choices )
		};
		if ( this.text !== null ) {
			fields.text = this.text;
		}
		return service.post( '/api/repair', fields, TIMEOUT_MS ).then( checked );
	}

	/**
	 * @param {Weboid.RepairAnswer} answer
	 */
	show( answer ) {
		this.answer = answer;
		// What was left for the others' sake is nothing that this link's reader asked for.
		const { link } = this;
		const left = link === null ? answer.left : answer.left.filter(
			( { url } ) => link.given.includes( url ) || normalForm( url ) === link.normal
		);
		this.dialog.show( answer, left );
	}

	/**
	 * @param {string} url
	 * @param {string} choice empty for what was proposed
	 */
	choose( url, choice ) {
		if ( choice ) {
			this.choices[ url ] = choice;
		} else {
			delete this.choices[ url ];
		}
		const turn = ++this.asked;
		this.guarded( () => this.ask().then( ( answer ) => {
			if ( turn === this.asked ) {
				this.show( answer );
			}
		} ) );
	}

	/**
	 * Hands the text over to the editor.
	 *
	 * @param {string} summary
	 */
	apply( summary ) {
		const { answer, base } = this;
		if ( answer && base ) {
			this.guarded( () => Promise.resolve( this.source.apply( answer.wikitext, summary, base ) )
				.then( () => this.source.isField && this.dialog.close() ) );
		}
	}

	/**
	 * Saves the text; where somebody has edited the page in the meantime, their text is repaired anew and shown.
	 *
	 * @param {{summary: string, isMinor: boolean, isWatched: boolean}} form
	 */
	save( form ) {
		const { answer, base } = this;
		if ( !answer || !base ) {
			return;
		}
		this.guarded( () => wiki.save( answer.wikitext, base, form ).then(
			( revision ) => wiki.renew( revision ).then( () => {
				this.dialog.close();
				mw.notify( mw.msg( 'weboid-gadget-repair-saved' ) );
			} ),
			( error ) => {
				if ( error.code !== 'editconflict' ) {
					throw error;
				}
				return wiki.fetchBase().then( ( newest ) => {
					this.base = newest;
					return this.propose();
				} ).then( () => this.dialog.say( mw.msg( 'weboid-gadget-repair-conflict' ) ) );
			}
		) );
	}

	/**
	 * Does something while nothing can be saved, and says so if it fails.
	 *
	 * @param {function(): Promise<any>} work
	 * @return {Promise<void>}
	 */
	guarded( work ) {
		this.dialog.wait();
		return Promise.resolve().then( work ).then(
			() => this.dialog.ready(), ( error ) => this.dialog.fail( String( error && error.message || error ) )
		);
	}
}

/**
 * Opens the dialog for one link, or for all of the page.
 *
 * @param {Weboid.Link|null} link
 * @return {Promise<void>}
 */
function open( link ) {
	return new Repair( link ).begin();
}

module.exports = { open };
