/** Causes faults in the operator; loaded before it with NODE_OPTIONS=--import. The first process becomes a supervisor. It runs the operator in
 *  a second process, starts it again whenever it ends, and causes faults on request:
 *    GET /arm/STEP        kills the operator when it reaches the step
 *    GET /arm/stop-STEP   stops it with SIGSTOP there
 *    GET /signal/NAME     sends it a signal
 *    GET /rest/MS         ends it, and starts it again after this time
 *    GET /cut             closes its connections to the API server
 *    GET /away/MS         closes them, and refuses new ones for this time
 *  Each of these, and every other path, such as those of probes, returns { port, starts, kills, conflicts, steps }.
 *  In: CHAOS_PORT, the port to listen on. A single file of plain JavaScript that imports no other, because pods mount it.
 *  Not here: the changes made to metadata meanwhile (person.ts). */
import { spawn } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { createServer } from 'node:http';
import { registerHooks } from 'node:module';

/** A module of the operator → the exports that replace its own. `real` is the module itself; `reached(step)` may never return. */
const SEAMS = {
  '/operator/engine/client.ts': `export const engineClient = (address) => {
    const port = real.engineClient(address);
    const write = async (change) => {
      // After a stop, it notices broken connections before it continues.
      if (reached('send')) await new Promise((resolve) => setTimeout(resolve, 5));
      return port.write(change).catch((error) => { if (error.kind === 'conflict') told('conflicts'); throw error; });
    };
    return { ...port, write };
  };`,
  '/operator/kubernetes/leader.ts': `export const Elector = class extends real.Elector {
    constructor(options) {
      super({ ...options, onLead: () => { reached('lead'); options.onLead(); } });
    }
  };`,
  '/operator/kubernetes/queue.ts': `export const Queue = class extends real.Queue {
    mark(...given) { super.mark(...given); reached('collect'); }
  };`,
  '/operator/pass/reconcile.ts': `export const reconcile = (ports, options) => {
    const { engine, source, sink } = ports;
    const snapshot = async () => { const taken = await source.snapshot(); reached('snapshot'); return taken; };
    const read = async () => { const read = await engine.read(); reached('read'); return read; };
    const admit = async (question) => { const found = await engine.admit(question); reached('admit'); return found; };
    const write = async (change) => {
      reached('write');
      const written = engine.write(change);
      written.catch(() => {});
      // The request is sent, and the response is lost.
      if (isArmed('sent')) { await new Promise((resolve) => setTimeout(resolve, 5)); reached('sent'); }
      const answer = await written;
      reached('verify');
      return answer;
    };
    const publish = async (changes) => {
      if (changes.length > 0 && isArmed('status')) { await sink.publish(changes.slice(0, 1)); reached('status'); }
      return sink.publish(changes);
    };
    return real.reconcile({ ...ports, engine: { ...engine, read, admit, write }, source: { snapshot }, sink: { publish } }, options);
  };`,
  '/operator/decide/desired.ts': `export const desire = (...given) => {
    reached('translate'); const desired = real.desire(...given); reached('claim'); return desired;
  };`,
  '/operator/decide/decide.ts': `export const decide = (...given) => { reached('diff'); return real.decide(...given); };`,
  '/operator/settle/order.ts': `export const compose = (...given) => { reached('compose'); return real.compose(...given); };`,
};
const STEPS = [
  'lead',
  'collect',
  'snapshot',
  'read',
  'translate',
  'claim',
  'diff',
  'compose',
  'admit',
  'write',
  'send',
  'sent',
  'verify',
  'status',
];

if (process.env.CHAOS_CHILD === undefined) await supervise();
else suffer();

function suffer() {
  let armed = process.env.CHAOS_CHILD;
  const cut = severed();
  process.on('message', ({ arm, awayMs }) => {
    if (arm !== undefined) armed = arm;
    if (awayMs !== undefined) cut(awayMs);
  });
  // An open channel does not keep the process running.
  process.channel?.unref();
  globalThis.chaos = {
    isArmed: (step) => armed === step,
    reached: (step) => {
      if (armed === step) process.kill(process.pid, 'SIGKILL');
      if (armed !== `stop-${step}`) return false;
      armed = '';
      return process.kill(process.pid, 'SIGSTOP');
    },
    told: (what) => process.send({ what }, () => {}),
  };
  registerHooks({
    resolve: (specifier, context, next) => {
      const found = next(specifier, context);
      const isSeam = Object.keys(SEAMS).some((file) => found.url.endsWith(file));
      return isSeam && !context.parentURL?.endsWith('?chaos')
        ? { ...found, url: `${found.url}?chaos` }
        : found;
    },
    load: (url, context, next) => {
      if (!url.endsWith('?chaos')) return next(url, context);
      const real = url.slice(0, -'?chaos'.length);
      const [, changed] = Object.entries(SEAMS).find(([file]) => real.endsWith(file));
      const source = `export * from '${real}'; import * as real from '${real}';
        const { isArmed, reached, told } = globalThis.chaos; ${changed}`;
      return { format: 'module', source, shortCircuit: true };
    },
  });
}

/** Returns a function that closes all connections with TLS, which are those to the API server, and refuses new ones for a time in ms. */
function severed() {
  const sockets = new Set();
  let awayUntil = 0;
  subscribe('undici:client:connected', ({ connectParams, socket }) => {
    if (connectParams.protocol !== 'https:') return;
    if (performance.now() < awayUntil) return socket.destroy();
    sockets.add(socket.once('close', () => sockets.delete(socket)));
  });
  return (awayMs) => {
    awayUntil = performance.now() + awayMs;
    for (const socket of sockets) socket.destroy();
  };
}

/** Supervises the operator. Never returns, so that this process does not become an operator itself. */
async function supervise() {
  const told = { port: 0, starts: 0, kills: 0, conflicts: 0, steps: STEPS };
  let armed = '';
  let restMs = 0;
  let child;
  const start = () => {
    told.starts++;
    child = spawn(process.execPath, process.argv.slice(1), {
      env: { ...process.env, CHAOS_CHILD: armed },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    child.on('message', ({ what }) => told[what]++);
    child.once('exit', (_code, signal) => {
      if (signal === 'SIGKILL') {
        told.kills++;
        armed = '';
      }
      if (armed.startsWith('stop-')) armed = '';
      setTimeout(start, restMs);
      restMs = 0;
    });
  };
  start();
  const control = createServer((request, response) => {
    const [, verb, name] = request.url.split('/');
    if (verb === 'arm') {
      armed = name;
      child.send({ arm: armed }, () => {});
    } else if (verb === 'signal') child.kill(name);
    else if (verb === 'rest') {
      restMs = Number(name);
      child.kill('SIGTERM');
    } else if (verb === 'cut') child.send({ awayMs: 0 }, () => {});
    else if (verb === 'away') child.send({ awayMs: Number(name) }, () => {});
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(told));
  });
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.on(signal, () => {
      if (child.exitCode !== null || child.signalCode !== null) process.exit(0);
      child.removeAllListeners('exit').once('exit', (code) => process.exit(code ?? 1));
      // A stopped process receives no other signal.
      child.kill('SIGCONT');
      child.kill(signal);
    });
  }
  await new Promise((resolve) => control.listen(Number(process.env.CHAOS_PORT ?? 0), resolve));
  told.port = control.address().port;
  console.log(JSON.stringify({ chaos: told.port }));
  await new Promise(() => {});
}
