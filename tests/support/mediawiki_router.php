<?php
$path = parse_url( $_SERVER["REQUEST_URI"], PHP_URL_PATH );
if ( $path === "/favicon.ico" ) { http_response_code( 204 ); return true; }
if ( !str_starts_with( $path, "/wiki/" ) ) { return false; }
$_SERVER["SCRIPT_NAME"] = $_SERVER["PHP_SELF"] = "/w/index.php";
$_SERVER["SCRIPT_FILENAME"] = $_SERVER["DOCUMENT_ROOT"] . "/w/index.php";
unset( $_SERVER["PATH_INFO"] );
chdir( $_SERVER["DOCUMENT_ROOT"] . "/w" );
require $_SERVER["SCRIPT_FILENAME"];
return true;
