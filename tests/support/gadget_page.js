// What the gadget's modules need of MediaWiki, as far as the tests of support/gadget_page.py go.
( { messages, service, options, config } ) => {
	const language = document.documentElement.lang;
	const categories = [ 'zero', 'one', 'two', 'few', 'many', 'other' ].filter(
		( category ) => new Intl.PluralRules( language ).resolvedOptions().pluralCategories.includes( category )
	);
	const plural = ( count, forms ) => {
		const exact = forms.find( ( form ) => form.startsWith( `${ count }=` ) );
		const counted = forms.filter( ( form ) => !/^\d+=/.test( form ) );
		const place = categories.indexOf( new Intl.PluralRules( language ).select( count ) );
		return exact ? exact.replace( /^\d+=/, '' ) : counted[ Math.min( place, counted.length - 1 ) ];
	};
	const text = ( key, ...parameters ) => messages[ key ]
		.replace( /\{\{PLURAL:\$(\d)\|([^{}]*)\}\}/g, ( all, place, forms ) => plural( Number( parameters[ place - 1 ] ), forms.split( '|' ) ) )
		.replace( /\$(\d)/g, ( all, place ) => parameters[ place - 1 ] );
	const kept = new Map();
	window.saved = [];
	window.mw = {
		// The gadget's beginning is not what is tested here.
		config: Object.assign( new Map( Object.entries( config ) ), { exists: () => true } ),
		hook: () => ( { add: () => undefined, fire: () => undefined } ),
		loader: { using: () => Promise.resolve( window.require ) },
		msg: text,
		messages: { set: () => undefined },
		log: console,
		message: ( ...given ) => ( { text: () => text( ...given ) } ),
		language: { convertNumber: String },
		util: {
			escapeRegExp: ( given ) => given.replace( /[\\{}()|.?*+\-^$[\]]/g, '\\$&' ),
			getUrl: ( page, query ) => `/wiki/${ page }?${ new URLSearchParams( query ) }`,
			addPortletLink: ( portlet, href, label, id ) => {
				const item = document.createElement( 'li' );
				item.innerHTML = `<a id="${ id }" href="${ href }">${ label }</a>`;
				document.querySelector( 'main ul' ).append( item );
				return item;
			}
		},
		storage: {
			getObject: ( key ) => kept.has( key ) ? JSON.parse( kept.get( key ) ) : null,
			setObject: ( key, value ) => Boolean( kept.set( key, JSON.stringify( value ) ) ),
			session: { setObject: ( key, value ) => kept.set( key, JSON.stringify( value ) ) }
		},
		user: { options: new Map( Object.entries( options ) ) },
		Api: function () {
			this.saveOption = ( name, value ) => {
				window.saved.push( [ name, value ] );
				return Promise.resolve();
			};
		}
	};
	const requireModule = window.require;
	window.require = ( name ) => name === './config.json' ? { ...service, languages: [ language ], texts: {} } : requireModule( name );
	const marks = require( './marks.js' );
	const card = require( './card.js' );
	window.markAll = ( links, day ) => document.querySelectorAll( 'main a' ).forEach( ( element, place ) => {
		const link = links[ place ];
		if ( link ) {
			marks.mark( element, link, { onOpen: ( mark, byHover ) => card.open( mark, link, { answerDay: day }, byHover ) } );
		}
	} );
}
