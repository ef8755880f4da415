async ( answers ) => {
	const kept = new Map();
	const warnings = [];
	const asked = [];
	mw.storage.session = { get: ( key ) => kept.get( key ), set: ( key, value ) => kept.set( key, value ) };
	mw.log = { warn: ( line ) => warnings.push( line ) };
	const fetcher = ( address, options ) => {
		const { body, status, headers } = answers[ Math.min( asked.length, answers.length - 1 ) ];
		asked.push( [ address, Object.keys( options ).sort(), options.credentials ] );
		return status ? Promise.resolve( new Response( body, { status, headers } ) ) :
			Promise.reject( new TypeError( 'refused' ) );
	};
	const { ask } = require( './service.js' );
	const question = { page: 7, revision: 9, language: 'en', extent: 'notes' };
	const known = await ask( question, fetcher );
	const quiet = kept.size ? Math.round( ( Number( [ ...kept.values() ][ 0 ] ) - Date.now() ) / 1000 ) : 0;
	const count = asked.length;
	await ask( question, fetcher );
	return { known, asked: asked.slice( 0, count ), again: asked.length > count, warnings, quiet };
}
