import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { dashboardPictureFile, pictureOf } from './charts/dashboardPicture.ts';
import { dashboards } from './dashboards.ts';

/**
 * Draws what each dashboard shows of a recorded good time, with Prometheus' `promtool`. A test compares the files: `npm run charts`
 * draws them anew, before the charts of troubles.
 */
for (const dashboard of dashboards) {
  const file = dashboardPictureFile(dashboard);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, await pictureOf(dashboard));
  console.log(`wrote ${file}`);
}
