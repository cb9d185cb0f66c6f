-- Health of every kind of pergola.dev. Their statuses follow kstatus: observedGeneration, Ready, and Reconciling or Stalled while true.
local function found(condition_type)
  for _, condition in ipairs((obj.status or {}).conditions or {}) do
    if condition.type == condition_type then return condition end
  end
end

local function answer(status, condition)
  return { status = status, message = condition.reason .. ": " .. (condition.message or "") }
end

if obj.spec ~= nil and obj.spec.suspend then
  return { status = "Suspended", message = "spec.suspend is set" }
end

local ready = found("Ready")
local generation = obj.metadata.generation
if ready == nil or obj.status.observedGeneration ~= generation or ready.observedGeneration ~= generation then
  return { status = "Progressing", message = "the operator has not seen this generation yet" }
end
if ready.status == "True" then
  local drifted = found("Drifted")
  return { status = "Healthy", message = drifted and ("drift is left: " .. drifted.message) or ready.message }
end
if ready.reason == "Paused" then return answer("Suspended", ready) end
if found("Reconciling") ~= nil then return answer("Progressing", ready) end
return answer(ready.status == "False" and "Degraded" or "Progressing", ready)
