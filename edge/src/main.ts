import './nodeVersion.ts';

await import('./program.ts');
