/** The health check of the image: ends with 0 when the engine or the operator of this container says that it works, else with 1.
 *  Plain JavaScript, because it runs alone in the image (deploy/Dockerfile). Kubernetes uses its own probes instead. */
const { ENGINE_GRAPHQL_SERVER_PORT = '8080', PERGOLA_HEALTH_PORT = '8081' } = process.env;

const addresses = [
  `http://127.0.0.1:${ENGINE_GRAPHQL_SERVER_PORT}/healthz`,
  `http://127.0.0.1:${PERGOLA_HEALTH_PORT}/readyz`,
];

async function isOk(address) {
  const { ok, status } = await fetch(address);
  if (!ok) throw new Error(`${address}: ${status}`);
}

await Promise.any(addresses.map(isOk)).catch(({ errors }) => {
  process.stderr.write(`${errors.map(({ message, cause }) => cause?.message ?? message).join('\n')}\n`);
  process.exitCode = 1;
});
