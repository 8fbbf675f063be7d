/**
 * The first import of every program. An older Node would fail with an error of syntax, or of a function that it lacks, before or
 * after any of our own lines: what needs a newer one is imported behind this (D302).
 */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`This program needs Node 20.19 or newer, this is ${process.versions.node}.\n`);
  process.exit(1);
}
