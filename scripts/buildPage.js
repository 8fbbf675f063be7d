// @ts-check
/** `node scripts/buildPage.js` makes the sandbox's page, `page/dist`. The page of the admin port is part of the service (`scripts/build.js`). */
import { buildPage } from './build/page.js';

await buildPage('sandbox', 'page/dist');
