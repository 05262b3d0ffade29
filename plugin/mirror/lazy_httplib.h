#pragma once

// <httplib.h> for the one command that serves: load_httplib() loads its library, and not the start of the program. It
// brings libssl and libcrypto, and loading these three takes longer than all else that a start needs. What is used of
// it is a weak symbol, for which the linker asks for no library, and which the loader looks up when it is first called
// (the program is linked with -z lazy). A name that is missing here makes every start load the library again, which a
// test notices.

#include <httplib.h>

#include "protocol/base/result.h"

asm(R"(
.weak _ZN7httplib6Server15process_requestERNS_6StreamEbRbRKSt8functionIFvRNS_7RequestEEE
.weak _ZN7httplib6Server15set_tcp_nodelayEb
.weak _ZN7httplib6Server16bind_to_any_portERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEi
.weak _ZN7httplib6Server17listen_after_bindEv
.weak _ZN7httplib6Server18set_socket_optionsESt8functionIFviEE
.weak _ZN7httplib6Server23set_pre_routing_handlerESt8functionIFNS0_15HandlerResponseERKNS_7RequestERNS_8ResponseEEE
.weak _ZN7httplib6Server4stopEv
.weak _ZN7httplib6ServerC2Ev
.weak _ZN7httplib6ServerD2Ev
.weak _ZN7httplib8Response10set_headerERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES8_
.weak _ZN7httplib8Response11set_contentERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES8_
.weak _ZN7httplib8Response28set_chunked_content_providerERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt8functionIFbmRNS_8DataSinkEEES9_IFvbEE
.weak _ZNK7httplib6Server10is_runningEv
.weak _ZTIN7httplib6ServerE
)");

namespace modlock {

// Before anything of the library is touched. TOOL_MISSING: the environment has LD_BIND_NOW, with which the loader looks
// for the functions at the start of the program only, and does not find them.
Result<void> load_httplib();

}  // namespace modlock
