'use strict';
// @ts-check
/**
 * `node scripts/build/writeCodeCache.cjs DIST PROGRAM [arguments]` runs a program of a build and then writes what V8 has made of it
 * (scripts/build/load.cjs).
 */
const { writeFileSync } = require('node:fs');
const { join, resolve } = require('node:path');

const [node = '', , directory = '', program = '', ...args] = process.argv;
const file = (name) => join(resolve(directory), name);
process.argv = [node, file(`${program}.js`), ...args];
process.once('exit', () => writeFileSync(file(`${program}.cache`), require(file('load.js')).codeCache()));
require(file(`${program}.js`));
