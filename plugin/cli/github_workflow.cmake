# The workflow that `init --ci github` writes. A release names the repository and the version that published it, so that the file works
# without an edit. tests/hosts/action_test.py calls this function.
function(modlock_github_workflow variable file repository version)
  file(READ ${file} text)
  if(repository)
    string(REGEX REPLACE "OWNER/tofu-modlock@v[0-9.]+ +#[^\n]*" "${repository}@v${version}" text "${text}")
  endif()
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()
