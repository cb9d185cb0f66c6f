/** A link that saves YAML as a file. */
export function DownloadLink({ file, text }) {
  const address = `data:application/yaml;charset=utf-8,${encodeURIComponent(text)}`;
  return (
    <a className="button" href={address} download={file}>
      Download
    </a>
  );
}
