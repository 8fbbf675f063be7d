/** How the command is called, for help and hints: the project that it comes from has a shorter way, which needs no build. */
export const called = process.env['npm_lifecycle_event'] === 'hub' ? 'npm run hub --' : 'npx iot-hub-emulator';
