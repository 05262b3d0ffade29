#pragma once

#include <json/value.h>

#include <set>
#include <string>
#include <vector>

namespace modlock::test {

// Holds messages against the OpenRPC document: what it says must be there, and what it does not say must not.
class SchemaCheck {
 public:
  explicit SchemaCheck(Json::Value document);

  // One line each for what does not fit: "lock/plan.result.changes[0].action: expected one of …".
  std::vector<std::string> request(const std::string& method, const Json::Value& params);
  std::vector<std::string> result(const std::string& method, const Json::Value& value);
  std::vector<std::string> error(const Json::Value& value);

  // Members of named types ("Change.action"), of messages ("lock/plan.params.mode") and those that messages have in
  // common ("params.root"): all, and those that came by.
  std::set<std::string> all_members() const;
  const std::set<std::string>& seen_members() const { return seen_; }

 private:
  const Json::Value& resolve(const Json::Value& schema) const;
  void check(const Json::Value& schema, const Json::Value& value, const std::string& where, const std::string& name);
  void check_one_of(const Json::Value& choices, const Json::Value& value, const std::string& where,
                    const std::string& name);
  void check_object(const Json::Value& schema, const Json::Value& value, const std::string& where,
                    const std::string& name);
  std::string member_name(const std::string& name, const std::string& member) const;
  void collect(const Json::Value& schema, const std::string& name, std::set<std::string>& out) const;
  Json::Value params_schema(const std::string& method) const;
  std::vector<std::string> take();

  const Json::Value document_;
  std::vector<std::string> findings_;
  std::set<std::string> seen_;
  std::set<std::string> shared_;  // the names of params that several methods have
};

}  // namespace modlock::test
