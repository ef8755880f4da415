() => {
	window.warned = [];
	mw.log = { warn: ( text ) => warned.push( text ) };
	mw.storage.session.get = () => null;
	mw.storage.session.set = () => true;
	window.question = { page: 7, revision: 1, language: 'en', extent: 'notes' };
	window.reported = ( fetcher ) => {
		warned.length = 0;
		return require( './service.js' ).ask( question, fetcher )
			.then( ( { links } ) => [ links.length, warned.length ] );
	};
}
