import './v8Flags.ts';

/** The service. Static imports of packages would come before the flags in a bundle. */
await import('./serviceProgram.ts');
