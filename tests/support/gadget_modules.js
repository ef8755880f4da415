( [ sources, firsts ] ) => {
	const modules = new Map();
	window.require = ( asked ) => {
		const name = firsts[ asked ] || asked;
		if ( !modules.has( name ) ) {
			const module = { exports: {} };
			modules.set( name, module );
			new Function( 'module', 'require', sources[ name ] )( module, window.require );
		}
		return modules.get( name ).exports;
	};
}
