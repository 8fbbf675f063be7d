/** Only the pool, which needs half as much to be loaded as all of undici (D176). */
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}

/** What makes its connections. */
declare module 'undici/lib/core/connect.js' {
  export { buildConnector as default } from 'undici';
}
