import { freePort } from '../../sandbox/service/freePort.ts';
import { residentMegabytes, type Stage, stop, withDevice } from './service.ts';

const idleMegabytes = 150;

/** The image's other command: an invocation of a remote method, from the application to a device and back. */
export async function proveMethods(stage: Stage): Promise<void> {
  const { image, container, sandbox, printer } = stage;
  const [port, healthPort, adminPort] = [await freePort(), await freePort(), await freePort()].map(String);
  const environment = {
    ...stage.environment,
    ...{ METHODS_PORT: port ?? '', HTTP_PORT: healthPort ?? '', ADMIN_PORT: adminPort ?? '' },
  };
  const front = await container.start(['node', 'dist/methods.js'], {
    ...{ name: 'The front door', environment, readyzUrl: `http://127.0.0.1:${healthPort}/readyz` },
    logFile: sandbox.state.service.logFile,
  });
  try {
    await container.run(image.healthCheck.slice(1), environment);
    const idle = await residentMegabytes(front.pid);
    printer.progress(
      `The front door is ready after ${Math.round(front.readyAfterMs)} ms, health check passed, ${idle.toFixed(0)} MB resident`,
    );
    if (idle > idleMegabytes) throw new Error(`That is more than ${idleMegabytes} MB`);
    await withDevice(stage, 'motor-1', async (device) => {
      await device.onMethod('invokeMethod', async (_, send) => send(200, { status: 7 }));
      const answer = await invoke(stage, `http://127.0.0.1:${port}`);
      if (answer !== '{"status":7}') throw new Error(`A method was to be answered with the status 7, not ${answer}`);
    });
    printer.progress('A remote method was invoked and answered');
    await stop(front);
  } finally {
    await front.kill();
  }
}

async function invoke({ sandbox: { backends }, signal }: Stage, url: string): Promise<string> {
  const object = backends.world.objects.list().find(({ owner }) => owner?.path === 'motor-1');
  const token = backends.applications.issue({ name: 'image', tenant: 'acme', mayInvoke: true }, 600);
  const answer = await fetch(`${url}/objects/${object?.objectId}/models/svc.device/methods/stop`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{}',
    signal,
  });
  return answer.text();
}
