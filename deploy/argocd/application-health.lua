-- Health of Applications in an Application. Without this script, sync waves do not wait for them.
if obj.status ~= nil and obj.status.health ~= nil then
  return { status = obj.status.health.status, message = obj.status.health.message or "" }
end
return { status = "Progressing", message = "Argo CD has not compared it yet" }
