import { checkLive } from '../sandbox/live/live.ts';
import { spawn } from '../sandbox/service/endWithUs.ts';

/**
 * `npm run check` with the settings in `.env`: what the image has, built if it is older than its sources; with `--live`, messages
 * of a device, which only the sources have.
 */
const args = process.argv.slice(2);

if (args.includes('--live')) {
  await import('../src/programs/envFile.ts');
  process.exitCode = await checkLive(args, process.env['DEVICE_CONNECTION_STRING'] ?? '', process);
} else {
  await import('./buildIfOlder.ts');
  const command = ['--import', './dist/envFile.js', 'dist/check.js', ...args];
  const child = spawn(process.execPath, command, { stdio: 'inherit' });
  // Ctrl-C goes to both.
  process.on('SIGINT', () => {}).on('SIGTERM', () => child.kill());
  child.once('exit', (code) => process.exit(code ?? 130));
}
